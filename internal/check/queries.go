package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcname"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// query is a query of a machine, by the name that it has in gen/db, where the
// queries of all machines are methods of one type.
type query struct {
	name    string
	machine *model.Machine
	// what is the query in the words of a message.
	what string
	pos  diag.Position
	// batch says that it is the batch of an event.
	batch bool
}

// queriesOf lists the queries of a machine; one without a table has none.
// Those that every machine has come first: a clash is then told of the event,
// which is what can be renamed.
func queriesOf(m *model.Machine) []query {
	if m.Table == nil || m.Ident == "" {
		return nil
	}
	var queries []query
	for _, own := range []string{"Create", "Get", "History", "Correct", "LockRows", "HeldRows"} {
		queries = append(queries, query{m.Ident + own, m, own + " of machine " + quote(m.Name), m.Pos, false})
	}
	for _, e := range m.Events {
		if e.Ident != "" {
			queries = append(queries,
				query{m.Ident + e.Ident, m, "event " + quote(e.Name) + " of machine " + quote(m.Name), e.Pos, false},
				query{m.Ident + e.Ident + "Batch", m, "the batch of event " + quote(e.Name) + " of machine " + quote(m.Name), e.Pos, true})
		}
	}
	for _, e := range m.DeadlineEvents() {
		if e.Ident != "" {
			queries = append(queries, query{m.Ident + "Sweep" + e.Ident, m, "the sweep of event " + quote(e.Name) + " of machine " + quote(m.Name), e.Pos, false})
		}
	}
	return queries
}

// takeQueries reports the names in gen/db that other machines have already.
func takeQueries(m *model.Machine, taken map[string]query, problems *diag.List) {
	for _, q := range queriesOf(m) {
		other, ok := taken[q.name]
		switch {
		case !ok:
			taken[q.name] = q
		case q.batch && other.batch: // their events have been reported
		case other.machine != m: // two of one machine are reported by Run
			problems.Addf(q.pos, CodeIdentifier, diag.Error, "%s would be called %s in gen/db, as %s is; rename one", q.what, q.name, other.what)
		}
	}
}

// declaration is an exported name of gen/db, in the words of a message.
type declaration struct {
	name, what string
	pos        diag.Position
	query      bool // it comes from a query, and not from a table
}

// ownDeclarations are what gen/db declares whatever the machines are.
func ownDeclarations() map[string]declaration {
	own := make(map[string]declaration)
	for _, name := range sqlcname.Own() {
		own[name] = declaration{name: name, what: "sqlc's own " + name}
	}
	return own
}

// typesOf lists the types that gen/db has for certain of a machine: those of
// its queries, then those of its tables. What only sqlc knows, such as that of
// a table made by hand, is looked for when it has run.
func typesOf(m *model.Machine) []declaration {
	if m.Table == nil {
		return nil
	}
	var types []declaration
	for _, q := range queriesOf(m) {
		types = append(types, declaration{sqlcname.Params(q.name), "the parameters of " + q.what, q.pos, true})
		if q.name != m.Ident+"Get" { // its answer may be the table's own type
			types = append(types, declaration{sqlcname.Row(q.name), "the answer of " + q.what, q.pos, true})
		}
	}
	called := sqlname.Machine{Name: m.Name, Table: m.Table.Name}
	tables := []string{called.Table, called.History()}
	if m.Facts() {
		tables = append(tables, called.Facts())
	}
	if m.Table.History != nil {
		tables = append(tables, called.HistoryRest())
	}
	for _, table := range tables {
		types = append(types, declaration{sqlcname.Struct(table), "the row of table " + quote(table), m.Table.Pos, false})
	}
	return types
}

// takeTypes reports the types in gen/db that are there already.
func takeTypes(m *model.Machine, taken map[string]declaration, problems *diag.List) {
	for _, d := range typesOf(m) {
		if other, ok := taken[d.name]; ok {
			if !other.query || !d.query { // two queries of one name have been reported
				problems.Addf(d.pos, CodeIdentifier, diag.Error, "%s would be called %s in gen/db, as %s is; rename a machine, a table or an event", d.what, d.name, other.what)
			}
			continue
		}
		taken[d.name] = d
	}
}

// sweepNames checks that no event of the machine has the name of a sweep.
func (c *checker) sweepNames() {
	m := c.machine
	if m.Table == nil {
		return
	}
	for _, swept := range m.DeadlineEvents() {
		for _, e := range m.Events {
			if swept.Ident != "" && (e.Ident == "Sweep"+swept.Ident || e.Ident+"Batch" == "Sweep"+swept.Ident) {
				c.errorf(e.Pos, CodeIdentifier, "event %s would be called %s in gen/db, as the sweep of event %s is; rename one", quote(e.Name), m.Ident+"Sweep"+swept.Ident, quote(swept.Name))
			}
		}
	}
}
