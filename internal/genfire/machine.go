package genfire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// machine renders the machine as data, with its calls.
func (g *generator) machine() {
	f, m := g.f, g.m
	called := sqlname.Machine{Name: m.Name, Table: m.Table.Name, Existing: m.Table.Existing}
	f.P("// machine is the machine as its definition says: what must be seen is judged by this, not by the generated SQL.")
	f.P("var machine = ", g.test("Machine"), "{")
	g.text("Name", m.Name)
	g.text("Table", m.Table.Name)
	g.text("History", called.History())
	if m.Facts() {
		g.text("Facts", called.Facts())
	}
	g.text("Birth", called.Birth())
	f.P("Key: []", g.test("Column"), "{")
	for _, k := range m.Table.Keys {
		f.P("{Name: ", quote(k.Name), ", Type: ", quote(k.Type.SQL), "},")
	}
	f.P("},")
	g.text("Status", m.Table.Status.Column)
	g.text("StatusType", m.Table.Status.Type)
	g.text("Version", m.Table.Version)
	if m.Deadlines() {
		g.text("Deadline", m.Table.Deadline)
	}
	if m.CountsRuns() {
		g.text("Runs", m.Table.Runs)
	}
	g.columns()
	g.states()
	g.events()
	if len(m.CreateEmit) > 0 {
		f.P("CreateEmit: ", list(m.CreateEmit), ",")
	}
	g.cells()
	g.races()
	g.calls()
	f.P("}")
	f.P()
}

func (g *generator) text(field, value string) { g.f.P(field, ": ", quote(value), ",") }

func (g *generator) columns() {
	if len(g.m.Table.Columns) == 0 {
		return
	}
	g.f.P("Columns: []", g.test("Column"), "{")
	for _, c := range g.m.Table.Columns {
		more := ""
		if c.Optional {
			more += ", Optional: true"
		}
		if c.Default != nil {
			more += ", Default: " + quote(expr(c.Default))
		}
		if slices.Contains(g.m.Created(), c) {
			more += ", Given: true"
		}
		if g.m.Sets(c) {
			more += ", Set: true"
		}
		if c.Check != nil {
			more += ", Check: " + quote(expr(c.Check))
		}
		g.f.P("{Name: ", quote(c.Name), ", Type: ", quote(c.Type.SQL), more, ", Value: ", quote(g.usual(c)), "},")
	}
	g.f.P("},")
}

// usual is a value for a column: that of the first case whose row stands in the
// initial state, since such values go together, else one of its type.
func (g *generator) usual(c *model.Column) string {
	for _, k := range g.Cells {
		if k.Start != g.m.Initial() {
			continue
		}
		for _, v := range k.Given {
			if v.Name == c.Name && !v.Null {
				return v.SQL
			}
		}
	}
	return plain(c.Type)
}

// plain is a value of a type, of no meaning.
func plain(t model.Type) string {
	switch t.Kind {
	case model.KindUUID:
		return "'00000000-0000-4000-8000-000000000001'"
	case model.KindBool:
		return "true"
	case model.KindTime:
		return "'2020-01-02 03:04:05+00'"
	case model.KindDate:
		return "'2020-01-02'"
	case model.KindJSON:
		return "'{}'"
	case model.KindBytes:
		return `'\x01'`
	case model.KindText:
		return "'x'"
	}
	return "1"
}

func (g *generator) states() {
	f := g.f
	f.P("States: []", g.test("State"), "{")
	for _, s := range g.m.States {
		stored := []string{g.m.Table.Status.Text(s.Name, s.Code)}
		if s.Was != "" && g.m.Table.Status.Storage != model.StoredCode {
			stored = append(stored, s.Was)
		}
		line := []any{"{Name: ", quote(s.Name), ", Stored: ", list(stored)}
		if d := s.Deadline; d != nil {
			line = append(line, ", After: ")
			line = append(line, g.duration(d.After)...)
			line = append(line, ", Event: ", quote(d.Event.Name))
			if d.Max > 0 {
				line = append(line, ", Max: ", d.Max)
			}
		}
		if s.Retired {
			line = append(line, ", Retired: true")
		}
		f.P(append(line, "},")...)
	}
	f.P("},")
	g.text("Initial", g.m.Initial().Name)
}

func (g *generator) duration(d time.Duration) []any {
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}} {
		if d%unit.d == 0 {
			return []any{int64(d / unit.d), " * ", g.f.Import("time", unit.name)}
		}
	}
	return []any{int64(d), " * ", g.f.Import("time", "Nanosecond")}
}

func quote(text string) string { return strconv.Quote(text) }

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return strings.Join(quoted, ", ")
}

// list is a list of texts as Go.
func list(texts []string) string { return "[]string{" + quoteAll(texts) + "}" }

func stateNames(states []*model.State) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.Name
	}
	return names
}
