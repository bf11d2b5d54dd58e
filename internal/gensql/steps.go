package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
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
	var steps []step
	if s.enum() {
		steps = append(steps, s.enumType())
	}
	steps = append(steps, step{[]string{s.table()}, []string{"DROP TABLE " + ident(s.Table) + ";"}})
	if s.Deadlines {
		steps = append(steps, s.deadlineIndex())
	}
	steps = append(steps, s.historyTable())
	steps = append(steps, s.parts()...)
	if s.Facts {
		steps = append(steps, s.factsTable())
	}
	return append(steps, s.function(), s.edgeTrigger(), s.birthTrigger(), s.goneFunction(), s.goneTrigger())
}

// table declares the machine's own table.
func (s Schema) table() string {
	table := []string{"CREATE TABLE " + ident(s.Table) + " ("}
	for _, c := range slices.Concat(s.keys(), s.ownColumns(), s.Columns) {
		table = append(table, "  "+c.declare()+",")
	}
	table = append(table,
		fmt.Sprintf("  CONSTRAINT %s PRIMARY KEY (%s),", sqlname.PrimaryKey(s.Table), s.keyList("")),
		fmt.Sprintf("  CONSTRAINT %s CHECK (%s),", s.called().StatusCheck(), s.known()),
		fmt.Sprintf("  CONSTRAINT %s CHECK (%s > 0)", s.called().VersionCheck(), s.version("")))
	for _, c := range s.Columns {
		if c.Check != "" {
			table[len(table)-1] += ","
			table = append(table, fmt.Sprintf("  CONSTRAINT %s CHECK (%s)", s.called().ColumnCheck(c.Name), c.Check))
		}
	}
	return lines(append(table, ");")...)
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

func (s Schema) deadlineIndex() step {
	name := s.called().DeadlineIndex()
	return step{
		[]string{fmt.Sprintf("CREATE INDEX %s ON %s (%s) WHERE %[3]s IS NOT NULL;", name, ident(s.Table), ident(s.own().Deadline))},
		[]string{"DROP INDEX " + name + ";"},
	}
}

func (s Schema) historyTable() step {
	if s.History != nil {
		return s.partitionedHistory()
	}
	name := s.called().History()
	return step{
		[]string{lines(
			"CREATE TABLE "+name+" (",
			s.historyColumns(),
			fmt.Sprintf("  CONSTRAINT %s PRIMARY KEY (%s, version),", sqlname.PrimaryKey(name), s.keyList("")),
			fmt.Sprintf("  CONSTRAINT %s CHECK (NOT forced OR actor <> '' AND reason <> '')", s.called().ForcedCheck()),
			");",
		)},
		[]string{"DROP TABLE " + name + ";"},
	}
}

func (s Schema) historyColumns() string {
	return lines(
		s.keyColumns(),
		"  version bigint NOT NULL,",
		"  event text NOT NULL,",
		"  from_status text,",
		"  to_status text NOT NULL,",
		"  actor text NOT NULL DEFAULT '',",
		"  reason text NOT NULL DEFAULT '',",
		"  request_id text NOT NULL DEFAULT '',",
		"  forced boolean NOT NULL DEFAULT false,",
		"  at timestamptz NOT NULL,",
	)
}

func (s Schema) factsTable() step {
	name := s.called().Facts()
	return step{
		[]string{lines(
			"CREATE TABLE "+name+" (",
			"  event text NOT NULL,",
			"  identity text NOT NULL,",
			s.keyColumns(),
			"  fingerprint text NOT NULL,",
			"  outcome text NOT NULL,",
			"  from_status text NOT NULL,",
			"  to_status text NOT NULL,",
			"  version bigint NOT NULL,",
			"  at timestamptz NOT NULL,",
			fmt.Sprintf("  CONSTRAINT %s PRIMARY KEY (event, identity)", sqlname.PrimaryKey(name)),
			");",
		),
			fmt.Sprintf("CREATE INDEX %s ON %s (%s);", s.called().FactsKeyIndex(), name, s.keyList("")),
		},
		[]string{"DROP TABLE " + name + ";"},
	}
}

// function refuses what no edge allows. It is called on a violation alone, so
// its price is paid by those who break the rules. It lets a forced correction
// pass: one that has said so in the history, with actor and reason.
func (s Schema) function() step {
	name := s.called().Refuse()
	return step{
		[]string{dollarQuoted(lines(
			fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", name),
			"BEGIN",
			"  IF TG_OP = 'INSERT' THEN",
			fmt.Sprintf("    RAISE EXCEPTION '%s: a row begins as %%, version 1, not as %%, version %%', TG_ARGV[0], %s, %s", s.Machine, s.text("NEW"), s.version("NEW")),
			fmt.Sprintf("      USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s';", s.called().Birth()),
			"  END IF;",
			fmt.Sprintf("  IF %s AND %s = %s + 1 AND EXISTS (", s.sameKey("NEW", "OLD"), s.version("NEW"), s.version("OLD")),
			fmt.Sprintf("    SELECT 1 FROM %s AS h WHERE %s AND h.version = %s", s.called().History(), s.sameKey("h", "NEW"), s.version("NEW")),
			fmt.Sprintf("      AND h.forced AND %s = %s AND %s = %s) THEN", s.told("h.from_status"), s.text("OLD"), s.told("h.to_status"), s.text("NEW")),
			"    RETURN NULL;",
			"  END IF;",
			fmt.Sprintf("  RAISE EXCEPTION '%s: no edge leads from %%, version %%, to %%, version %%', %s, %s, %s, %s", s.Machine, s.text("OLD"), s.version("OLD"), s.text("NEW"), s.version("NEW")),
			fmt.Sprintf("    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s';", s.called().Edge()),
			"END $$;",
		))},
		[]string{fmt.Sprintf("DROP FUNCTION %s();", name)},
	}
}

// edgeTrigger fires after the UPDATE, so that another trigger which changes
// the row before it cannot slip past.
func (s Schema) edgeTrigger() step {
	status := ident(s.own().Status)
	up := []string{
		fmt.Sprintf("CREATE TRIGGER %s AFTER UPDATE ON %s FOR EACH ROW", s.called().Edge(), ident(s.Table)),
		fmt.Sprintf("WHEN ((OLD.%s <> NEW.%[1]s OR %s <> %s OR %s)", status, s.version("OLD"), s.version("NEW"), s.otherKey("OLD", "NEW")),
	}
	edges := s.edgesInForce()
	moved := s.renamesAt(RenameMigrate)
	switch {
	case len(edges) == 0 && len(moved) == 0:
		up[1] += ")"
	case len(moved) == 0:
		up = append(up, fmt.Sprintf("  AND NOT (%s AND %s = %s + 1 AND (", s.sameKey("OLD", "NEW"), s.version("NEW"), s.version("OLD")))
		up = append(up, s.edgeLines(edges)...)
		up = append(up, "  )))")
	default:
		up = append(up, fmt.Sprintf("  AND NOT (%s AND (", s.sameKey("OLD", "NEW")))
		or := "    "
		if len(edges) > 0 {
			up = append(up, fmt.Sprintf("    %s = %s + 1 AND (", s.version("NEW"), s.version("OLD")))
			up = append(up, s.edgeLines(edges)...)
			up = append(up, "    )")
			or = "    OR "
		}
		for _, r := range moved { // the same state under its new name is no move
			up = append(up, fmt.Sprintf("%s%s = %s AND %s = %s AND %s = %s", or, s.version("NEW"), s.version("OLD"), s.status("OLD"), literal(r.Was), s.status("NEW"), literal(r.Is)))
			or = "    OR "
		}
		up = append(up, "  )))")
	}
	up = append(up, fmt.Sprintf("EXECUTE FUNCTION %s();", s.called().Refuse()))
	return step{[]string{lines(up...)}, []string{fmt.Sprintf("DROP TRIGGER %s ON %s;", s.called().Edge(), ident(s.Table))}}
}

func (s Schema) edgeLines(edges []Edge) []string {
	up := make([]string, len(edges))
	enters := s.entered()
	for i, e := range edges {
		or := "    OR "
		if i == 0 {
			or = "       "
		}
		up[i] = fmt.Sprintf("%s%s AND %s", or, s.stands("OLD", e.From), enters.standsIn("NEW", e.To))
	}
	return up
}

func (s Schema) birthTrigger() step {
	births, enters := append([]string{s.Initial}, s.pending().Initial...), s.entered()
	other := enters.standsNot("NEW", s.Initial)
	if len(births) > 1 {
		other = "NOT (" + enters.standsIn("NEW", births) + ")"
	}
	return step{
		[]string{lines(
			fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s FOR EACH ROW", s.called().Birth(), ident(s.Table)),
			fmt.Sprintf("WHEN (%s OR %s <> 1)", other, s.version("NEW")),
			fmt.Sprintf("EXECUTE FUNCTION %s(%s);", s.called().Refuse(), literal(strings.Join(births, " or "))),
		)},
		[]string{fmt.Sprintf("DROP TRIGGER %s ON %s;", s.called().Birth(), ident(s.Table))},
	}
}

// goneFunction ends a row's facts and history with the row, so that its key
// may be used again. A trigger costs the calls nothing, a foreign key would.
func (s Schema) goneFunction() step {
	up := []string{
		fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", s.called().Forget()),
		"BEGIN",
		fmt.Sprintf("  DELETE FROM %s AS h WHERE %s;", s.called().History(), s.sameKey("h", "OLD")),
	}
	if s.Facts {
		up = append(up, fmt.Sprintf("  DELETE FROM %s AS f WHERE %s;", s.called().Facts(), s.sameKey("f", "OLD")))
	}
	return step{
		[]string{lines(append(up, "  RETURN NULL;", "END $$;")...)},
		[]string{fmt.Sprintf("DROP FUNCTION %s();", s.called().Forget())},
	}
}

func (s Schema) goneTrigger() step {
	return step{
		[]string{lines(
			fmt.Sprintf("CREATE TRIGGER %s AFTER DELETE ON %s FOR EACH ROW", s.called().Gone(), ident(s.Table)),
			fmt.Sprintf("EXECUTE FUNCTION %s();", s.called().Forget()),
		)},
		[]string{fmt.Sprintf("DROP TRIGGER %s ON %s;", s.called().Gone(), ident(s.Table))},
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
