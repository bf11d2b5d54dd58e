package audit

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// structure is what the database has of one machine.
type structure struct {
	table, history, facts *relation // facts is nil for a machine without
}

// inspect looks up the machine's tables. An error says that there is nothing to
// audit: a table or column is missing, or may not be read.
func (l *lifecycle) inspect(ctx context.Context, tx pgx.Tx) (structure, error) {
	var s structure
	t := l.Table
	own := []string{t.Status.Column, t.Version}
	if l.Deadlines() {
		own = append(own, t.Deadline)
	}
	if l.CountsRuns() {
		own = append(own, t.Runs)
	}
	var keys []string
	for _, k := range t.Keys {
		keys = append(keys, k.Name)
	}
	var err error
	if s.table, err = lookUp(ctx, tx, t.Name, slices.Concat(keys, own)...); err != nil {
		return s, err
	}
	if s.history, err = lookUp(ctx, tx, l.called().History(), slices.Concat(keys, []string{"version", "event", "from_status", "to_status", "actor", "reason", "request_id", "forced"})...); err != nil {
		return s, err
	}
	if l.Facts() {
		s.facts, err = lookUp(ctx, tx, l.called().Facts(), slices.Concat(keys, []string{"event", "identity", "outcome", "from_status", "to_status", "version"})...)
	}
	return s, err
}

// estimate is about how many records there are, 0 when nobody knows.
func (s structure) estimate() int64 {
	var n float64
	for _, r := range s.relations() {
		n += max(r.rows, 0)
	}
	return int64(n)
}

func (s structure) relations() []*relation {
	if s.facts == nil {
		return []*relation{s.table, s.history}
	}
	return []*relation{s.table, s.history, s.facts}
}

// collations reports whether the key columns of the tables are not all of the
// same collations.
func (l *lifecycle) collations(s structure) bool {
	for _, k := range l.Table.Keys {
		for _, r := range s.relations() {
			if r.columns[k.Name].collation != s.table.columns[k.Name].collation {
				return true
			}
		}
	}
	return false
}

// judgeStructure compares the tables with what the migrations make, and reports
// whether the rows can be read at all.
func (l *lifecycle) judgeStructure(s structure, find func(Kind, string, ...any), note func(string, ...any)) bool {
	readable := l.judgeColumns(s.table, find)
	var keys []string
	for _, k := range l.Table.Keys {
		keys = append(keys, k.Name)
	}
	called := l.called()
	if !l.Table.Existing {
		s.table.require(sqlname.PrimaryKey(called.Table), "p", "primary key", keys, find)
	} else if !s.table.unique(keys...) { // by any name, and perhaps no constraint
		find(ConstraintMissing, "%s has no primary key or unique index on exactly (%s)", s.table.name, strings.Join(keys, ", "))
	}
	g := guard{l, find, note, map[string]bool{}}
	g.check(s.table.require(called.VersionCheck(), "c", "CHECK of the version", []string{l.Table.Version}, find),
		"a version below 1", scope{l.Table.Version: "0"}, scope{l.Table.Version: "-1"})
	entry := append([]string{"version"}, keys...)
	if l.Table.History != nil {
		entry = append(entry, "at") // by which it is in partitions
	}
	s.history.require(sqlname.PrimaryKey(called.History()), "p", "primary key", entry, find)
	g.check(s.history.require(called.ForcedCheck(), "c", "CHECK of forced entries", []string{"forced", "actor", "reason"}, find),
		"a forced entry without actor or reason", scope{"forced": true, "actor": "", "reason": "r"}, scope{"forced": true, "actor": "a", "reason": ""})
	if s.facts != nil {
		s.facts.require(sqlname.PrimaryKey(called.Facts()), "p", "primary key, by which a fact counts once", []string{"event", "identity"}, find)
	}
	if check := s.table.require(called.StatusCheck(), "c", "CHECK of the states", []string{l.Table.Status.Column}, find); check != nil &&
		!g.check(check, "a row in a state that is none", scope{l.Table.Status.Column: l.noState(check)}) {
		l.compareStates(l.listed(check.expr), note)
	}
	g.judgeTriggers(s)
	return readable
}

// require finds a constraint missing or never validated, and returns it. The
// name matters: statements and later migrations go by it.
func (r *relation) require(name, kind, what string, columns []string, find func(Kind, string, ...any)) *constraint {
	c := r.constraint(name, kind, columns...)
	switch {
	case c == nil:
		find(ConstraintMissing, "%s has no %s: %s", r.name, name, what)
	case !c.valid:
		find(ConstraintNotValid, "%s: %s, the %s, is not valid: rows from before were never checked", r.name, name, what)
	}
	return c
}

// castable are the types that can be read for a column of another type.
var castable = map[string][]string{
	"text":                     {"text", "character varying", "character"},
	"smallint":                 {"smallint", "integer", "bigint"},
	"integer":                  {"smallint", "integer", "bigint"},
	"bigint":                   {"smallint", "integer", "bigint"},
	"timestamp with time zone": {"timestamp with time zone", "timestamp without time zone"},
}

// judgeColumns compares the machine's own columns, and reports whether they can
// be read. A table that was there before may keep its states as varchar.
func (l *lifecycle) judgeColumns(r *relation, find func(Kind, string, ...any)) bool {
	t := l.Table
	own := []struct {
		name, typ string
		optional  bool
	}{{t.Status.Column, t.Status.Type, false}, {t.Version, t.VersionType, false}}
	if l.Deadlines() {
		own = append(own, struct {
			name, typ string
			optional  bool
		}{t.Deadline, "timestamp with time zone", true})
	}
	if l.CountsRuns() {
		own = append(own, struct {
			name, typ string
			optional  bool
		}{t.Runs, "integer", false})
	}
	readable := true
	for _, o := range own {
		is := r.columns[o.name]
		reads := is.typ == o.typ || slices.Contains(castable[o.typ], is.typ)
		switch {
		case is.typ != o.typ && !(t.Existing && o.typ == "text" && is.typ == "character varying"):
			find(ColumnType, "%s.%s is %s, not %s", r.name, o.name, is.typ, o.typ)
		case is.mayBeNull && !o.optional:
			find(ColumnType, "%s.%s may be NULL", r.name, o.name)
		}
		readable = readable && reads
	}
	return readable
}

var (
	texts   = regexp.MustCompile(`'((?:[^']|'')*)'`)
	numbers = regexp.MustCompile(`-?\b[0-9]+\b`)
)

// compareStates tells where the CHECK knows other states than the definition:
// one of the two is newer, which is a note.
func (l *lifecycle) compareStates(listed []string, note func(string, ...any)) {
	for _, v := range listed {
		if l.stored[v] == nil {
			note("%s: the database knows the state %q, the definition does not: it is older than the database, or the state is gone", l.Name, v)
		}
	}
	for _, s := range l.States {
		if !slices.Contains(listed, l.Table.Status.Text(s.Name, s.Code)) && (s.Was == "" || !slices.Contains(listed, s.Was)) {
			note("%s: the definition has the state %s, the database does not know it: migrations are waiting", l.Name, s.Name)
		}
	}
}

// listed are the values that stand in a CHECK.
func (l *lifecycle) listed(expr string) []string {
	if l.Table.Status.Storage == model.StoredCode { // PostgreSQL writes one below 0 as text
		return numbers.FindAllString(expr, -1)
	}
	var values []string
	for _, m := range texts.FindAllStringSubmatch(expr, -1) {
		values = append(values, strings.ReplaceAll(m[1], "''", "'"))
	}
	return values
}

// judgeTriggers looks for the triggers that refuse and forget, and judges what
// they let pass. Their functions are where the migrations made the tables.
func (g guard) judgeTriggers(s structure) {
	called := g.called()
	for _, t := range []struct {
		name, function, use string
		on                  int64
		judge               func(string, refusal)
	}{
		{called.Edge(), called.Refuse(), "refuses illegal edges", onUpdate, g.edge},
		{called.Birth(), called.Refuse(), "refuses rows that do not begin as they should", onInsert, g.birth},
		{called.Gone(), called.Forget(), "ends history and facts with their row", onDelete, g.gone},
	} {
		switch is, there := s.table.triggers[t.name]; {
		case !there || is.function != t.function:
			g.find(TriggerMissing, "%s has no trigger %s with the function %s, which %s", s.table.name, t.name, t.function, t.use)
		case is.schema != s.table.schema && is.schema != s.history.schema:
			g.find(TriggerMissing, "%s: the trigger %s, which %s, calls a function %s of another schema", s.table.name, t.name, t.use, t.function)
		case is.enabled != "O" && is.enabled != "A":
			g.find(TriggerDisabled, "%s: the trigger %s, which %s, is disabled", s.table.name, t.name, t.use)
		default:
			g.trigger(t.name, is, t.on, t.judge)
		}
	}
}

// notes tells of rows that the next change of the definition has to do with.
func (w *walker) notes(note func(string, ...any)) {
	for _, s := range w.states {
		switch n := w.retired[s.Index]; {
		case n > 0 && w.past(s):
			note("%s: %s in the state %s, which is no longer declared: programs generated before still bring rows there", w.Name, several(n, "row is", "rows are"), s.Name)
		case n > 0:
			note("%s: %s in the retired state %s", w.Name, several(n, "row is", "rows are"), s.Name)
		}
		if n := w.former[s.Index]; n > 0 {
			note("%s: %s as %q, the former name of %s", w.Name, several(n, "row is kept", "rows are kept"), s.Was, s.Name)
		}
		if w.due[s.Index] {
			note("%s: the due times of rows in %s are not judged: programs generated before move them too", w.Name, s.Name)
		}
	}
}
