package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// query is a query of a machine, by the name that it has in gen/db, where the
// queries of all machines are methods of one type.
type query struct {
	name    string
	machine *model.Machine
	// what is the query in the words of a message.
	what string
	pos  diag.Position
}

// queriesOf lists the queries of a machine; one without a table has none.
// Those that every machine has come first: a clash is then told of the event,
// which is what can be renamed.
func queriesOf(m *model.Machine) []query {
	if m.Table == nil || m.Ident == "" {
		return nil
	}
	var queries []query
	for _, own := range []string{"Create", "Get", "History", "Correct"} {
		queries = append(queries, query{m.Ident + own, m, own + " of machine " + quote(m.Name), m.Pos})
	}
	for _, e := range m.Events {
		if e.Ident != "" {
			queries = append(queries, query{m.Ident + e.Ident, m, "event " + quote(e.Name) + " of machine " + quote(m.Name), e.Pos})
		}
	}
	for _, e := range m.DeadlineEvents() {
		if e.Ident != "" {
			queries = append(queries, query{m.Ident + "Sweep" + e.Ident, m, "the sweep of event " + quote(e.Name) + " of machine " + quote(m.Name), e.Pos})
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
		case other.machine != m: // two of one machine are reported by Run
			problems.Addf(q.pos, CodeIdentifier, diag.Error, "%s would be called %s in gen/db, as %s is; rename one", q.what, q.name, other.what)
		}
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
			if swept.Ident != "" && e.Ident == "Sweep"+swept.Ident {
				c.errorf(e.Pos, CodeIdentifier, "event %s would be called %s in gen/db, as the sweep of event %s is; rename one", quote(e.Name), m.Ident+e.Ident, quote(swept.Name))
			}
		}
	}
}
