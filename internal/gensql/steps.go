package gensql

import (
	"fmt"
	"strings"
)

// step is one change of the database and its way back, each a list of whole
// statements.
type step struct {
	up, down []string
}

// lines makes one statement of its lines.
func lines(l ...string) string { return strings.Join(l, "\n") }

// create makes everything of a new machine.
func (s Schema) create() []step {
	key := []string{fmt.Sprintf("  %s %s NOT NULL,", ident(s.Key.Name), s.Key.Type)}
	table := []string{"CREATE TABLE " + ident(s.Table) + " ("}
	table = append(table, key...)
	table = append(table, "  status text NOT NULL,", "  version bigint NOT NULL,")
	if s.Deadlines {
		table = append(table, "  deadline_at timestamptz,")
	}
	if s.Runs {
		table = append(table, "  deadline_runs integer NOT NULL DEFAULT 0,")
	}
	for _, c := range s.Columns {
		table = append(table, "  "+c.declare()+",")
	}
	table = append(table,
		fmt.Sprintf("  CONSTRAINT %s_pkey PRIMARY KEY (%s),", s.Table, ident(s.Key.Name)),
		fmt.Sprintf("  CONSTRAINT %s_status_check CHECK (status IN (%s)),", s.Table, literals(s.States)),
		fmt.Sprintf("  CONSTRAINT %s_version_check CHECK (version > 0)", s.Table))
	for _, c := range s.Columns {
		if c.Check != "" {
			table[len(table)-1] += ","
			table = append(table, fmt.Sprintf("  CONSTRAINT %s CHECK (%s)", s.checkName(c), c.Check))
		}
	}
	steps := []step{
		{[]string{lines(append(table, ");")...)}, []string{"DROP TABLE " + ident(s.Table) + ";"}},
	}
	if s.Deadlines {
		steps = append(steps, s.deadlineIndex())
	}
	steps = append(steps, s.historyTable())
	if s.Facts {
		steps = append(steps, s.factsTable())
	}
	return append(steps, s.function(), s.edgeTrigger(), s.birthTrigger(), s.goneFunction(), s.goneTrigger())
}

func (c Column) declare() string {
	text := ident(c.Name) + " " + c.Type
	if !c.Optional {
		text += " NOT NULL"
	}
	if c.Default != "" {
		text += " DEFAULT " + c.Default
	}
	return text
}

func (s Schema) checkName(c Column) string { return s.Table + "_" + c.Name + "_check" }

func (s Schema) deadlineIndex() step {
	name := s.Table + "_deadline_idx"
	return step{
		[]string{fmt.Sprintf("CREATE INDEX %s ON %s (deadline_at) WHERE deadline_at IS NOT NULL;", name, ident(s.Table))},
		[]string{"DROP INDEX " + name + ";"},
	}
}

func (s Schema) historyTable() step {
	name := s.Machine + "_history"
	return step{
		[]string{lines(
			"CREATE TABLE "+name+" (",
			fmt.Sprintf("  %s %s NOT NULL,", ident(s.Key.Name), s.Key.Type),
			"  version bigint NOT NULL,",
			"  event text NOT NULL,",
			"  from_status text,",
			"  to_status text NOT NULL,",
			"  actor text NOT NULL DEFAULT '',",
			"  reason text NOT NULL DEFAULT '',",
			"  request_id text NOT NULL DEFAULT '',",
			"  forced boolean NOT NULL DEFAULT false,",
			"  at timestamptz NOT NULL,",
			fmt.Sprintf("  CONSTRAINT %s_pkey PRIMARY KEY (%s, version),", name, ident(s.Key.Name)),
			fmt.Sprintf("  CONSTRAINT %s_forced_check CHECK (NOT forced OR actor <> '' AND reason <> '')", name),
			");",
		)},
		[]string{"DROP TABLE " + name + ";"},
	}
}

func (s Schema) factsTable() step {
	name := s.Machine + "_facts"
	return step{
		[]string{lines(
			"CREATE TABLE "+name+" (",
			"  event text NOT NULL,",
			"  identity text NOT NULL,",
			fmt.Sprintf("  %s %s NOT NULL,", ident(s.Key.Name), s.Key.Type),
			"  fingerprint text NOT NULL,",
			"  outcome text NOT NULL,",
			"  from_status text NOT NULL,",
			"  to_status text NOT NULL,",
			"  version bigint NOT NULL,",
			"  at timestamptz NOT NULL,",
			fmt.Sprintf("  CONSTRAINT %s_pkey PRIMARY KEY (event, identity)", name),
			");",
		),
			fmt.Sprintf("CREATE INDEX %s_key_idx ON %[1]s (%s);", name, ident(s.Key.Name)),
		},
		[]string{"DROP TABLE " + name + ";"},
	}
}

// function refuses what no edge allows. It is called on a violation alone, so
// its price is paid by those who break the rules. It lets a forced correction
// pass: one that has said so in the history, with actor and reason.
func (s Schema) function() step {
	k := ident(s.Key.Name)
	name := s.Machine + "_refuse_edge"
	return step{
		[]string{lines(
			fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", name),
			"BEGIN",
			"  IF TG_OP = 'INSERT' THEN",
			fmt.Sprintf("    RAISE EXCEPTION '%s: a row begins as %%, version 1, not as %%, version %%', TG_ARGV[0], NEW.status, NEW.version", s.Machine),
			fmt.Sprintf("      USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s_birth';", s.Machine),
			"  END IF;",
			fmt.Sprintf("  IF NEW.%s = OLD.%[1]s AND NEW.version = OLD.version + 1 AND EXISTS (", k),
			fmt.Sprintf("    SELECT 1 FROM %s_history AS h WHERE h.%s = NEW.%[2]s AND h.version = NEW.version", s.Machine, k),
			"      AND h.forced AND h.from_status = OLD.status AND h.to_status = NEW.status) THEN",
			"    RETURN NULL;",
			"  END IF;",
			fmt.Sprintf("  RAISE EXCEPTION '%s: no edge leads from %%, version %%, to %%, version %%', OLD.status, OLD.version, NEW.status, NEW.version", s.Machine),
			fmt.Sprintf("    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s_edge';", s.Machine),
			"END $$;",
		)},
		[]string{fmt.Sprintf("DROP FUNCTION %s();", name)},
	}
}

// edgeTrigger fires after the UPDATE, so that another trigger which changes
// the row before it cannot slip past.
func (s Schema) edgeTrigger() step {
	k := ident(s.Key.Name)
	up := []string{
		fmt.Sprintf("CREATE TRIGGER %s_edge AFTER UPDATE ON %s FOR EACH ROW", s.Machine, ident(s.Table)),
		fmt.Sprintf("WHEN ((OLD.status <> NEW.status OR OLD.version <> NEW.version OR OLD.%s <> NEW.%[1]s)", k),
	}
	edges := s.edgesInForce()
	moved := s.renamesAt(stepMigrate)
	switch {
	case len(edges) == 0 && len(moved) == 0:
		up[1] += ")"
	case len(moved) == 0:
		up = append(up, fmt.Sprintf("  AND NOT (OLD.%s = NEW.%[1]s AND NEW.version = OLD.version + 1 AND (", k))
		up = append(up, s.edgeLines(edges)...)
		up = append(up, "  )))")
	default:
		up = append(up, fmt.Sprintf("  AND NOT (OLD.%s = NEW.%[1]s AND (", k))
		or := "    "
		if len(edges) > 0 {
			up = append(up, "    NEW.version = OLD.version + 1 AND (")
			up = append(up, s.edgeLines(edges)...)
			up = append(up, "    )")
			or = "    OR "
		}
		for _, r := range moved { // the same state under its new name is no move
			up = append(up, fmt.Sprintf("%sNEW.version = OLD.version AND OLD.status = %s AND NEW.status = %s", or, literal(r.Was), literal(r.Is)))
			or = "    OR "
		}
		up = append(up, "  )))")
	}
	up = append(up, fmt.Sprintf("EXECUTE FUNCTION %s_refuse_edge();", s.Machine))
	return step{[]string{lines(up...)}, []string{fmt.Sprintf("DROP TRIGGER %s_edge ON %s;", s.Machine, ident(s.Table))}}
}

func (s Schema) edgeLines(edges []Edge) []string {
	up := make([]string, len(edges))
	for i, e := range edges {
		or := "    OR "
		if i == 0 {
			or = "       "
		}
		var to []string
		for _, name := range e.To {
			to = append(to, s.writable(name)...)
		}
		up[i] = fmt.Sprintf("%s%s AND NEW.status IN (%s)", or, among("OLD.status", s.calls(e.From)), literals(to))
	}
	return up
}

// among is a condition that a column has one of the texts.
func among(column string, texts []string) string {
	if len(texts) == 1 {
		return column + " = " + literal(texts[0])
	}
	return column + " IN (" + literals(texts) + ")"
}

func (s Schema) birthTrigger() step {
	births := s.birthsInForce()
	other := "NEW.status <> " + literal(births[0])
	if len(births) > 1 {
		other = "NEW.status NOT IN (" + literals(births) + ")"
	}
	return step{
		[]string{lines(
			fmt.Sprintf("CREATE TRIGGER %s_birth AFTER INSERT ON %s FOR EACH ROW", s.Machine, ident(s.Table)),
			fmt.Sprintf("WHEN (%s OR NEW.version <> 1)", other),
			fmt.Sprintf("EXECUTE FUNCTION %s_refuse_edge(%s);", s.Machine, literal(strings.Join(births, " or "))),
		)},
		[]string{fmt.Sprintf("DROP TRIGGER %s_birth ON %s;", s.Machine, ident(s.Table))},
	}
}

// goneFunction ends a row's facts and history with the row, so that its key
// may be used again. A trigger costs the calls nothing, a foreign key would.
func (s Schema) goneFunction() step {
	k := ident(s.Key.Name)
	up := []string{
		fmt.Sprintf("CREATE FUNCTION %s_forget() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", s.Machine),
		"BEGIN",
		fmt.Sprintf("  DELETE FROM %s_history AS h WHERE h.%s = OLD.%[2]s;", s.Machine, k),
	}
	if s.Facts {
		up = append(up, fmt.Sprintf("  DELETE FROM %s_facts AS f WHERE f.%s = OLD.%[2]s;", s.Machine, k))
	}
	return step{
		[]string{lines(append(up, "  RETURN NULL;", "END $$;")...)},
		[]string{fmt.Sprintf("DROP FUNCTION %s_forget();", s.Machine)},
	}
}

func (s Schema) goneTrigger() step {
	return step{
		[]string{lines(
			fmt.Sprintf("CREATE TRIGGER %s_gone AFTER DELETE ON %s FOR EACH ROW", s.Machine, ident(s.Table)),
			fmt.Sprintf("EXECUTE FUNCTION %s_forget();", s.Machine),
		)},
		[]string{fmt.Sprintf("DROP TRIGGER %s_gone ON %s;", s.Machine, ident(s.Table))},
	}
}

// replaced drops what was and makes what is, and the other way round.
func replaced(was, is step) step {
	return step{append(append([]string{}, was.down...), is.up...), append(append([]string{}, is.down...), was.up...)}
}

// text renders the steps, the way back in reverse.
func text(steps []step) (up, down string) {
	var u, d []string
	for i := range steps {
		u = append(u, marked(steps[i].up))
		if way := steps[len(steps)-1-i].down; len(way) > 0 {
			d = append(d, marked(way))
		}
	}
	return strings.Join(u, "\n\n"), strings.Join(d, "\n\n")
}

// marked joins statements. goose cuts at a semicolon wherever it stands, in a
// function's body or a state's name, unless the statement is marked.
func marked(statements []string) string {
	out := make([]string, len(statements))
	for i, s := range statements {
		out[i] = s
		if !strings.HasPrefix(s, "--") && (strings.Contains(strings.TrimSuffix(s, ";"), ";") || strings.Contains(s, "--")) {
			out[i] = lines("-- +goose StatementBegin", s, "-- +goose StatementEnd")
		}
	}
	return strings.Join(out, "\n")
}
