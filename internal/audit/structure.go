package audit

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
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
	if s.history, err = lookUp(ctx, tx, l.historyTable(), slices.Concat(keys, []string{"version", "event", "from_status", "to_status", "actor", "reason", "forced"})...); err != nil {
		return s, err
	}
	if l.Facts() {
		s.facts, err = lookUp(ctx, tx, l.factsTable(), slices.Concat(keys, []string{"event", "identity", "outcome", "from_status", "to_status", "version"})...)
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
	for _, c := range []struct {
		of      *relation
		kinds   string
		columns []string
		what    string
	}{
		{s.table, "pu", keys, "primary key"},
		{s.history, "pu", append([]string{"version"}, keys...), "primary key"},
		{s.facts, "pu", []string{"event", "identity"}, "primary key, by which a fact counts once"},
		{s.table, "c", []string{l.Table.Version}, "CHECK of the version"},
		{s.history, "c", []string{"forced", "actor", "reason"}, "CHECK of forced entries"},
	} {
		if c.of != nil {
			c.of.require(c.kinds, c.what, c.columns, find)
		}
	}
	if l.Table.Status.Storage != model.StoredEnum {
		l.judgeStatusCheck(s.table, find, note)
	}
	l.judgeTriggers(s.table, find)
	return readable
}

// require finds a constraint missing or never validated.
func (r *relation) require(kinds, what string, columns []string, find func(Kind, string, ...any)) {
	if r.has(kinds, columns...) {
		return
	}
	for _, c := range r.constraints {
		if c.over(kinds, columns...) {
			find(ConstraintNotValid, "%s: the %s, %s, is not valid: rows from before were never checked", r.name, what, c.name)
			return
		}
	}
	find(ConstraintMissing, "%s has no %s", r.name, what)
}

// castable are the types that can be read for a column of another type.
var castable = map[string][]string{
	"text":                     {"text", "character varying", "character"},
	"smallint":                 {"smallint", "integer", "bigint"},
	"integer":                  {"smallint", "integer", "bigint"},
	"bigint":                   {"smallint", "integer", "bigint"},
	"timestamp with time zone": {"timestamp with time zone", "timestamp without time zone"},
}

// judgeColumns compares the machine's own columns. A table that was there
// before its machine may keep what can be read.
func (l *lifecycle) judgeColumns(r *relation, find func(Kind, string, ...any)) bool {
	t := l.Table
	own := []struct {
		name, typ string
		optional  bool
	}{{t.Status.Column, t.Status.Type, false}, {t.Version, "bigint", false}}
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
		case is.typ != o.typ && !(t.Existing && reads):
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

// judgeStatusCheck looks for the CHECK that lists the states: the one over the
// status column that knows the initial state. Where it knows other states than
// the definition, one of the two is newer, which is a note.
func (l *lifecycle) judgeStatusCheck(r *relation, find func(Kind, string, ...any), note func(string, ...any)) {
	values := make([]string, len(l.States))
	for i, s := range l.States {
		values[i] = s.Name
		if l.Table.Status.Storage == model.StoredCode {
			values[i] = strconv.Itoa(s.Code)
		}
	}
	initial := l.Initial()
	var check *constraint
	var listed []string
	for i, c := range r.constraints {
		if !c.over("c", l.Table.Status.Column) {
			continue
		}
		found := l.listed(c.def)
		if slices.Contains(found, values[initial.Index]) || initial.Was != "" && slices.Contains(found, initial.Was) {
			if check == nil || c.valid && !check.valid {
				check, listed = &r.constraints[i], found
			}
		}
	}
	switch {
	case check == nil:
		find(ConstraintMissing, "%s has no CHECK that lists the states of %s", r.name, l.Table.Status.Column)
		return
	case !check.valid:
		find(ConstraintNotValid, "%s: the CHECK of the states, %s, is not valid: rows from before were never checked", r.name, check.name)
	}
	for _, v := range listed {
		if l.stored[v] == nil {
			note("%s: the database knows the state %q, the definition does not: it is older than the database, or the state is gone", l.Name, v)
		}
	}
	for i, s := range l.States {
		if !slices.Contains(listed, values[i]) && (s.Was == "" || !slices.Contains(listed, s.Was)) {
			note("%s: the definition has the state %s, the database does not know it: migrations are waiting", l.Name, s.Name)
		}
	}
}

// listed are the values that stand in a CHECK.
func (l *lifecycle) listed(def string) []string {
	if l.Table.Status.Storage == model.StoredCode {
		return numbers.FindAllString(texts.ReplaceAllString(def, ""), -1)
	}
	var values []string
	for _, m := range texts.FindAllStringSubmatch(def, -1) {
		values = append(values, strings.ReplaceAll(m[1], "''", "'"))
	}
	return values
}

// judgeTriggers looks for the triggers that refuse and forget. What edges they
// allow is not compared.
func (l *lifecycle) judgeTriggers(r *relation, find func(Kind, string, ...any)) {
	for _, t := range []struct{ name, function, use string }{
		{l.Name + "_edge", l.Name + "_refuse_edge", "refuses illegal edges"},
		{l.Name + "_birth", l.Name + "_refuse_edge", "refuses rows that do not begin as they should"},
		{l.Name + "_gone", l.Name + "_forget", "ends history and facts with their row"},
	} {
		switch is, there := r.triggers[t.name]; {
		case !there || is.function != t.function:
			find(TriggerMissing, "%s has no trigger %s with the function %s, which %s", r.name, t.name, t.function, t.use)
		case is.enabled != "O" && is.enabled != "A":
			find(TriggerDisabled, "%s: the trigger %s, which %s, is disabled", r.name, t.name, t.use)
		}
	}
}

// notes tells of rows that the next change of the definition has to do with.
func (w *walker) notes(note func(string, ...any)) {
	for _, s := range w.States {
		if n := w.retired[s.Index]; n > 0 {
			note("%s: %s in the retired state %s", w.Name, several(n, "row is", "rows are"), s.Name)
		}
		if n := w.former[s.Index]; n > 0 {
			note("%s: %s as %q, the former name of %s", w.Name, several(n, "row is kept", "rows are kept"), s.Was, s.Name)
		}
	}
}
