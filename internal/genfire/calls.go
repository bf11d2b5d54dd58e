package genfire

import (
	"path"

	"github.com/pawl-go/pawl/internal/model"
)

// call renders the closure that reads key and parameters and makes the call,
// alone or by its batch.
func (g *generator) call(e *model.Event) {
	f := g.f
	g.closure("Call")
	args, fields := "", ""
	if len(e.Params) > 0 {
		f.P("var p ", g.own(e.Ident+"Params"))
		args = ", p"
		for _, p := range e.Params {
			fields += ", &p." + p.Ident
		}
	}
	g.scan(fields)
	item := "{Key: key}"
	if len(e.Params) > 0 {
		item = "{Key: key, Params: p}"
	}
	f.P("if call.Batch {")
	f.P("return ", g.test("BatchAnswerOf"), "(", g.own(e.Ident+"Batch"), "(call.Context, call.On, []", g.own(e.Ident+"Item"), "{", item, "}, call.Options...))")
	f.P("}")
	f.P("return ", g.test("AnswerOf"), "(", g.own(e.Ident), "(call.Context, call.On, key", args, ", call.Options...))")
	f.P("},")
}

// closure begins a call, with the key to be read.
func (g *generator) closure(field string) {
	g.f.P(field, ": func(call *", g.test("Call"), ") (", g.test("Answer"), ", error) {")
	g.f.P("var key ", g.own("Key"))
}

// scan reads the key, and fields after it.
func (g *generator) scan(fields string) {
	g.f.P("if err := call.Scan(", g.keyFields("key"), fields, "); err != nil {")
	g.f.P("return ", g.test("Answer"), "{}, err")
	g.f.P("}")
}

// keyFields are where the columns of a key are read to.
func (g *generator) keyFields(key string) string {
	keys := g.m.Table.Keys
	if len(keys) == 1 {
		return "&" + key
	}
	fields := ""
	for i, k := range keys {
		if i > 0 {
			fields += ", "
		}
		fields += "&" + key + "." + keyField(k)
	}
	return fields
}

// keyField names a column's field of a generated Key.
func keyField(c *model.Column) string {
	if c.Ident == "String" {
		return "StringColumn"
	}
	return c.Ident
}

// calls renders the calls that are no event's.
func (g *generator) calls() {
	f, m := g.f, g.m
	g.closure("Create")
	f.P("p := ", g.own("CreateParams"), "{}")
	fields := ""
	for _, c := range m.Created() {
		fields += ", &p." + c.Ident
	}
	g.scan(fields)
	f.P("p.Key = key")
	f.P("return ", g.test("AnswerOf"), "(", g.own("Create"), "(call.Context, call.On, p, call.Options...))")
	f.P("},")
	g.closure("Correct")
	g.scan("")
	f.P("return ", g.test("AnswerOf"), "(", g.own("Correct"), "(call.Context, call.On, key, ", g.own("State"), "(call.To), call.Why(), call.Options...))")
	f.P("},")
	f.P("Get: func(call *", g.test("Call"), ") (any, error) {")
	f.P("var key ", g.own("Key"))
	f.P("if err := call.Scan(", g.keyFields("key"), "); err != nil {")
	f.P("return nil, err")
	f.P("}")
	f.P("return ", g.own("Get"), "(call.Context, call.On, key)")
	f.P("},")
	f.P("Entries: func(call *", g.test("Call"), ", after int64, limit int32) ([]", g.runtime("Entry"), "[string], error) {")
	f.P("var key ", g.own("Key"))
	f.P("if err := call.Scan(", g.keyFields("key"), "); err != nil {")
	f.P("return nil, err")
	f.P("}")
	f.P("return ", g.test("EntriesOf"), "(", g.own("History"), "(call.Context, call.On, key, after, limit))")
	f.P("},")
	g.row()
	if m.Deadlines() {
		f.P("Sweeps: ", g.own("Sweeps"), "(),")
		var names []string
		for _, e := range m.DeadlineEvents() {
			names = append(names, e.Name)
		}
		f.P("Deadlines: ", list(names), ",")
	}
	f.P("Migrate: migrate,")
	g.text("Before", "../../"+path.Base(g.Migrations)+"/testdata/before.sql")
}

// row renders the closure that reads a row.
func (g *generator) row() {
	m := g.m
	g.f.P("Row: func(scan func(dest ...any) error) (any, error) {")
	g.f.P("var row ", g.own("Row"))
	key := "row.Key"
	if len(m.Table.Keys) == 1 {
		key = "row." + m.Table.Keys[0].Ident
	}
	fields := g.keyFields(key) + ", &row.Status, &row.Version"
	if m.Deadlines() {
		fields += ", &row.DeadlineAt"
	}
	if m.CountsRuns() {
		fields += ", &row.DeadlineRuns"
	}
	for _, c := range m.Table.Columns {
		fields += ", &row." + c.Ident
	}
	g.f.P("err := scan(", fields, ")")
	g.f.P("return row, err")
	g.f.P("},")
}
