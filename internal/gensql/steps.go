package gensql

import (
	"fmt"
	"regexp"
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
		text += " DEFAULT " + operand(c.Default)
	}
	return text
}

// operand puts an expression between brackets where it could end too early: behind
// the DEFAULT of a column that is declared PostgreSQL's grammar wants one without
// the operators that are words, and takes COLLATE for the column's.
func operand(sql string) string {
	if words.MatchString(sql) {
		return "(" + sql + ")"
	}
	return sql
}

var words = regexp.MustCompile(`(?i)\b(and|or|not|is|isnull|notnull|in|like|ilike|similar|between|at|collate|any|all|some)\b`)

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
