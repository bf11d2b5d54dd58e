package gengo

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// composite reports whether the key has several columns, so that Key is a
// struct.
func (g *generator) composite() bool { return len(g.m.Table.Keys) > 1 }

// keyField names a column's field of a Key struct, which has a method String.
func keyField(c *model.Column) string {
	if c.Ident == "String" {
		return "StringColumn"
	}
	return c.Ident
}

// keyType is the Go type of a column of the key. A date is text, as in
// "2006-01-02": a time has a zone, and would not be equal to itself elsewhere.
func keyType(f *genfile.File, t model.Type) any {
	if t.Kind == model.KindDate {
		return "string"
	}
	return goType(f, t, false)
}

// key renders the type Key.
func (g *generator) key(f *genfile.File) {
	t := g.m.Table
	if !g.composite() {
		k := t.Keys[0]
		comment := "is the key of a row: the column " + k.Name + " of the table " + t.Name + ", " + k.Type.SQL + "."
		if k.Type.Kind == model.KindDate {
			comment += " It is written as in 2006-01-02."
		}
		f.Comment("Key", comment)
		f.P(append([]any{"type Key "}, printType(keyType(f, k.Type))...)...)
		f.P()
		return
	}
	f.Comment("Key", "is the key of a row: all columns of the primary key of the table "+t.Name+". Keys are compared with == and may be keys of a map.")
	f.P("type Key struct {")
	for _, k := range t.Keys {
		comment := "is the column " + k.Name + ", " + k.Type.SQL + "."
		if k.Type.Kind == model.KindDate {
			comment += " It is written as in 2006-01-02."
		}
		f.Comment(keyField(k), comment)
		field(f, keyField(k), keyType(f, k.Type))
	}
	f.P("}")
	f.P()
	f.P("// String is the key as outbox, audit and [fsm.Swept] have it: a JSON array as PostgreSQL writes it.")
	f.P("func (k Key) String() string {")
	parts := make([]any, 0, 4*len(t.Keys))
	for i, k := range t.Keys {
		if i > 0 {
			parts = append(parts, ", ")
		}
		if k.Type.Kind == model.KindUUID {
			parts = append(parts, f.Import(RuntimePath, "CanonicalUUID"), "(k."+keyField(k)+")")
		} else {
			parts = append(parts, "k."+keyField(k))
		}
	}
	f.P(append(append([]any{"return ", f.Import(RuntimePath, "KeyText"), "("}, parts...), ")")...)
	f.P("}")
	f.P()
}

// rowKey renders the key's field of Row: the column of a simple key under its
// own name, otherwise the whole Key, so that it can be given to the next call.
func (g *generator) rowKey(f *genfile.File) {
	if g.composite() {
		f.P("// Key holds the columns of the key.")
		f.P("Key Key")
		return
	}
	f.P(g.m.Table.Keys[0].Ident, " Key")
}

// rowKeyField renders the same field out of r.
func (g *generator) rowKeyField(f *genfile.File) {
	column := func(k *model.Column) []any {
		value := "r." + dbField(k.Name)
		if k.Type.Kind == model.KindDate {
			return []any{f.Import(RuntimePath, "DateOf"), "(" + value + ")"}
		}
		return []any{value}
	}
	if !g.composite() {
		k := g.m.Table.Keys[0]
		f.P(append(append([]any{k.Ident, ": Key("}, column(k)...), "),")...)
		return
	}
	line := []any{"Key: Key{"}
	for i, k := range g.m.Table.Keys {
		if i > 0 {
			line = append(line, ", ")
		}
		line = append(append(line, keyField(k), ": "), column(k)...)
	}
	f.P(append(line, "},")...)
}

// keyArg renders the arguments of a query that are the key.
func (g *generator) keyArg(f *genfile.File, from string) {
	if !g.composite() {
		k := g.m.Table.Keys[0]
		f.P(append(append([]any{"FsmKey: "}, printType(keyType(f, k.Type))...), "(", from, "),")...)
		return
	}
	for _, k := range g.m.Table.Keys {
		f.P(dbField("fsm_key_"+k.Name), ": ", from, ".", keyField(k), ",")
	}
}

// checkKey renders the refusal of a key that cannot be one, before any SQL, by
// returning fail.
func (g *generator) checkKey(f *genfile.File, info, from, fail string) {
	for _, k := range g.m.Table.Keys {
		value := from
		if g.composite() {
			value += "." + keyField(k)
		}
		g.checkValue(f, info, k.Type, k.Name, value, false, fail)
		if k.Type.Kind == model.KindDate {
			f.P("if err := ", f.Import(RuntimePath, "DateText"), "(", info, ", ", strconv.Quote(k.Name), ", string(", value, ")); err != nil {")
			f.P("return ", fail)
			f.P("}")
		}
	}
}
