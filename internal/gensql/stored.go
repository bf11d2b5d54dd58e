package gensql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// stored is a machine with the names by which its table holds the states. All
// SQL of the queries speaks of states through its methods: only the alias o
// touches the real table, and whatever comes out of a part of a statement has
// the state as text, by its name of today.
type stored struct {
	*model.Machine
	renames []Rename
}

// storedAs takes the renames that the migrations have led to; those of states
// that the machine no longer has are of no matter.
func storedAs(m *model.Machine, schema *Schema) stored {
	t := stored{Machine: m}
	if schema != nil {
		for _, r := range schema.Renames {
			if m.State(r.Is) != nil {
				t.renames = append(t.renames, r)
			}
		}
	}
	return t
}

// names are all by which a row may hold the state, that of today first.
func (t stored) names(s *model.State) []string {
	names := []string{s.Name}
	for _, r := range t.renames {
		if r.Is == s.Name {
			names = append(names, r.Was)
		}
	}
	return names
}

// name is the one that is written: at the step expand that of before, since
// programs of then read it.
func (t stored) name(s *model.State) string {
	for _, r := range t.renames {
		if r.Is == s.Name && r.Step == RenameExpand {
			return r.Was
		}
	}
	return s.Name
}

// status is the real status column.
func (t stored) status() string { return "o." + ident(t.Table.Status.Column) }

// in is the condition that the real row stands in one of the states.
func (t stored) in(states []*model.State) string {
	var values []string
	for _, s := range states {
		if t.Table.Status.Storage == model.StoredCode {
			values = append(values, strconv.Itoa(s.Code))
			continue
		}
		for _, name := range t.names(s) {
			values = append(values, literal(name))
		}
	}
	return isOneOf(t.status(), values)
}

// isOneOf compares with SQL constants.
func isOneOf(column string, values []string) string {
	if len(values) == 1 {
		return column + " = " + values[0]
	}
	return column + " IN (" + strings.Join(values, ", ") + ")"
}

// text is the name of the real row's state; what no state is stays as it is,
// as text.
func (t stored) text() string {
	column := t.status()
	switch t.Table.Status.Storage {
	case model.StoredCode:
		var b strings.Builder
		fmt.Fprintf(&b, "(CASE %s", column)
		for _, s := range t.States {
			fmt.Fprintf(&b, " WHEN %d THEN %s", s.Code, literal(s.Name))
		}
		return b.String() + " ELSE " + column + "::text END)::text"
	case model.StoredEnum:
		column += "::text"
	}
	return t.told(column)
}

// told is the name of today of a state whose name a text column holds, in
// history and facts too.
func (t stored) told(column string) string {
	return renamed(column, t.renames, func(r Rename) (from, to string) { return r.Was, r.Is })
}

// written is the name that history, facts, outbox and audit get for a text
// that is the name of today.
func (t stored) written(text string) string {
	var expanding []Rename
	for _, r := range t.renames {
		if t.name(t.State(r.Is)) == r.Was {
			expanding = append(expanding, r)
		}
	}
	return renamed(text, expanding, func(r Rename) (from, to string) { return r.Is, r.Was })
}

// renamed replaces names in a text; none means the text itself.
func renamed(text string, renames []Rename, pair func(Rename) (from, to string)) string {
	if len(renames) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString("(CASE " + text)
	for _, r := range renames {
		from, to := pair(r)
		fmt.Fprintf(&b, " WHEN %s THEN %s", literal(from), literal(to))
	}
	return b.String() + " ELSE " + text + " END)::text"
}

// value is what the status column gets for the state.
func (t stored) value(s *model.State) string {
	if t.Table.Status.Storage == model.StoredCode {
		return strconv.Itoa(s.Code)
	}
	return literal(t.name(s))
}

// valueOf is what the status column gets for a text that is a state's name;
// nothing that a column may hold for one that is no state.
func (t stored) valueOf(text string) string {
	switch t.Table.Status.Storage {
	case model.StoredCode:
		var b strings.Builder
		b.WriteString("CASE " + text)
		for _, s := range t.States {
			fmt.Fprintf(&b, " WHEN %s THEN %d", literal(s.Name), s.Code)
		}
		return b.String() + " END"
	case model.StoredEnum:
		// A second cast right behind a parameter's would make sqlc name it anew.
		return "COALESCE(" + t.written(text) + ")::" + ident(t.Table.Status.Type)
	}
	return t.written(text)
}

// as names an expression in a select list, unless it is the bare column.
func as(expr, column string) string {
	if expr == column || strings.HasSuffix(expr, "."+column) {
		return expr
	}
	return expr + " AS " + column
}

// names of the machine's other own columns, as SQL.
func (t stored) version() string  { return ident(t.Table.Version) }
func (t stored) deadline() string { return ident(t.Table.Deadline) }
func (t stored) runs() string     { return ident(t.Table.Runs) }

// state is the status column of a part of a statement, where it is text.
func (t stored) state(alias string) string { return alias + "." + ident(t.Table.Status.Column) }

// key lists the key's columns, qualified where there is an alias.
func (t stored) key(alias string) string {
	names := make([]string, len(t.Table.Keys))
	for i, k := range t.Table.Keys {
		names[i] = qualified(alias, k.Name)
	}
	return strings.Join(names, ", ")
}

func qualified(alias, column string) string {
	if alias == "" {
		return ident(column)
	}
	return alias + "." + ident(column)
}

// sameKey compares the keys of two rows.
func (t stored) sameKey(a, b string) string {
	same := make([]string, len(t.Table.Keys))
	for i, k := range t.Table.Keys {
		same[i] = qualified(a, k.Name) + " = " + qualified(b, k.Name)
	}
	return strings.Join(same, " AND ")
}

// keyArgs binds the key that was asked for.
func (t stored) keyArgs() []string {
	args := make([]string, len(t.Table.Keys))
	for i, k := range t.Table.Keys {
		name := t.keyArg(i)
		args[i] = bind(name, k.Type, false)
		if k.Type.Kind == model.KindDate { // Go has it as text, which is comparable
			args[i] = fmt.Sprintf("COALESCE(@%s::text)::date", name)
		}
	}
	return args
}

// asked is the condition that a row has the key that was asked for.
func (t stored) asked(alias string) string {
	args := t.keyArgs()
	for i, k := range t.Table.Keys {
		args[i] = qualified(alias, k.Name) + " = " + args[i]
	}
	return strings.Join(args, " AND ")
}

// keyText is the key as one text, the same whatever the session's settings.
func (t stored) keyText(alias string) string {
	columns := make([]string, len(t.Table.Keys))
	for i, k := range t.Table.Keys {
		columns[i] = qualified(alias, k.Name)
	}
	return sqlname.KeyText(columns, t.Table.Keys[0].Type.Kind == model.KindDate)
}

// conflict is where an insert finds the row of its key. The constraint of a
// table that was there before may have any name; inferred from the columns, it
// is as safe, since the migration has seen that they have a unique index.
func (t stored) conflict() string {
	if t.Table.Existing {
		return "ON CONFLICT (" + t.key("") + ")"
	}
	return "ON CONFLICT ON CONSTRAINT " + sqlname.PrimaryKey(t.Table.Name)
}

// row lists the row's columns as every query shows them, qualified: key,
// status, version, the deadline's, then the declared ones. The alias o is the
// real table.
func (t stored) row(alias string) string {
	status := t.state(alias)
	if alias == "o" {
		status = as(t.text(), ident(t.Table.Status.Column))
	}
	version := alias + "." + t.version()
	if alias == "o" && t.Table.VersionType != versionType {
		version = as(version+"::bigint", t.version())
	}
	columns := []string{t.key(alias), status, version}
	if t.Deadlines() {
		columns = append(columns, alias+"."+t.deadline())
	}
	if t.CountsRuns() {
		columns = append(columns, alias+"."+t.runs())
	}
	for _, c := range t.Table.Columns {
		columns = append(columns, qualified(alias, c.Name))
	}
	return strings.Join(columns, ", ")
}

// only returns the states that are among the others.
func only(states, others []*model.State) []*model.State {
	return slices.DeleteFunc(slices.Clone(states), func(s *model.State) bool { return !slices.Contains(others, s) })
}
