package check

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/syntax"
)

// table reads the guarded table, if the definition has one.
func (c *checker) table(top *syntax.Mapping) {
	entry, ok := top.Entry("table")
	if !ok {
		return
	}
	c.hasTable = true
	t := &model.Table{Pos: entry.Key.Pos}
	c.machine.Table = t
	fields := c.mapping(entry.Value, "\"table\"")
	if fields == nil {
		return
	}
	c.keys(fields, "table")
	if name, ok := fields.Entry("name"); !ok {
		c.errorf(entry.Key.Pos, CodeMissing, "the table has no name; write name: orders")
	} else if s := c.nameValue(name.Value, "the table's name"); s != nil {
		t.Name, t.Pos = s.Text, s.Pos
		c.tableName(s)
	}
	c.ownColumns(t, fields)
	t.Existing = c.boolean(fields, "existing")
	c.history(t, fields)
	c.key(t, fields, entry)
	columns := c.optionalMapping(fields.Get("columns"), "\"columns\"")
	for _, e := range columns.Entries {
		column, later := c.column(t, e)
		if column == nil {
			continue
		}
		t.Columns = append(t.Columns, column)
		c.columnSQL = append(c.columnSQL, later)
	}
}

// key reads the columns of the primary key.
func (c *checker) key(t *model.Table, fields *syntax.Mapping, table syntax.Entry) {
	entry, ok := fields.Entry("key")
	if !ok {
		c.errorf(table.Key.Pos, CodeMissing, "the table has no key; write key: {column: order_id, type: uuid}")
		return
	}
	list := entry.Value.AsSequence()
	if list == nil {
		c.keyColumn(t, entry.Value, entry.Key.Pos)
	} else if len(list.Items) == 0 {
		c.errorf(entry.Key.Pos, CodeMissing, "the key has no column; write key: {column: order_id, type: uuid}")
	} else {
		for _, item := range list.Items {
			c.keyColumn(t, item, item.Pos)
		}
	}
}

func (c *checker) keyColumn(t *model.Table, n *syntax.Node, pos diag.Position) {
	key := c.mapping(n, "\"key\"")
	if key == nil {
		return
	}
	c.keys(key, "key")
	column := &model.Column{Pos: pos}
	if name, ok := key.Entry("column"); !ok {
		c.errorf(pos, CodeMissing, "the key has no column; write key: {column: order_id, type: uuid}")
	} else if s := c.nameValue(name.Value, "the key's column"); s != nil && c.columnName(s) {
		column.Name, column.Pos = s.Text, s.Pos
		column.Ident = c.exported(s, "column")
		switch {
		case c.isOwn(s.Text) || besideKey[s.Text] || s.Text == model.VersionColumn:
			c.errorf(s.Pos, CodeOwnColumn, "column %s is the machine's own, so the key needs another name", quote(s.Text))
		case slices.ContainsFunc(t.Keys, func(k *model.Column) bool { return k.Name == s.Text }):
			c.errorf(s.Pos, CodeRepeated, "the key names column %s twice; delete one", quote(s.Text))
			return
		}
	}
	typed, ok := key.Entry("type")
	if !ok {
		c.errorf(pos, CodeMissing, "the key has no type; write key: {column: order_id, type: uuid}")
	} else if column.Type, ok = c.typeOf(typed.Value); ok && !column.Type.Keyable() {
		c.errorf(typed.Value.Pos, CodeKeyType, "a key cannot be %s, which has no one text, or no Go value that == compares; use text, uuid, an integer type, date or boolean", column.Type.SQL)
	}
	if column.Name != "" {
		t.Keys = append(t.Keys, column)
	}
}

// column reads one declared column. Its default and check are read by the
// function that it returns.
func (c *checker) column(t *model.Table, e syntax.Entry) (*model.Column, func()) {
	if !c.columnName(e.Key) {
		return nil, nil
	}
	column := &model.Column{Name: e.Key.Text, Pos: e.Key.Pos, Ident: c.exported(e.Key, "column")}
	switch {
	case c.isOwn(column.Name):
		c.errorf(e.Key.Pos, CodeOwnColumn, "column %s is the machine's own and is there without being declared; delete it, or choose another name", quote(column.Name))
		return nil, nil
	case slices.ContainsFunc(t.Keys, func(k *model.Column) bool { return k.Name == column.Name }):
		c.errorf(e.Key.Pos, CodeOwnColumn, "column %s is the key and must not be declared again; delete it", quote(column.Name))
		return nil, nil
	}
	if e.Value.AsScalar() != nil {
		column.Type, _ = c.typeOf(e.Value)
		return column, func() {}
	}
	fields := c.mapping(e.Value, "a column")
	if fields == nil {
		return column, func() {}
	}
	c.keys(fields, "column")
	column.Describe = c.describe(fields)
	column.Optional = c.boolean(fields, "optional")
	if typed, ok := fields.Entry("type"); ok {
		column.Type, _ = c.typeOf(typed.Value)
	} else {
		c.errorf(e.Key.Pos, CodeMissing, "column %s has no type; write type: text", quote(column.Name))
	}
	return column, func() {
		if n := fields.Get("default"); n != nil {
			column.Default = c.sql(n, use{what: "the default of column " + quote(column.Name), role: roleDefault, clock: true,
				want: sqlexpr.Want{Category: category(column.Type), Type: column.Type.SQL, As: column.Type.SQL + " " + column.Name}})
		}
		if n := fields.Get("check"); n != nil {
			column.Check = c.sql(n, use{what: "the check of column " + quote(column.Name), role: roleCheck, columns: true,
				want: sqlexpr.Want{Category: sqlexpr.Boolean, As: "a check"}})
			if derived := len(t.Name) + len(column.Name) + len("__check"); derived > maxName {
				c.errorf(e.Key.Pos, CodeBadName, "column %s has a check, which would be called %s and have %d bytes; at most %d fit, so shorten the column's or the table's name",
					quote(column.Name), quote(t.Name+"_"+column.Name+"_check"), derived, maxName)
			}
		}
		c.ownDefault(column, fields)
	}
}

// typeOf reads a type; ok is false after a problem was reported.
func (c *checker) typeOf(n *syntax.Node) (model.Type, bool) {
	s := n.AsScalar()
	if s == nil || n.IsNull() {
		c.wrongKind(n, "a type", "the name of a PostgreSQL type")
		return model.Type{}, false
	}
	t, ok := model.ParseType(s.Text)
	if !ok {
		hint := meant(s.Text, model.TypeNames())
		if strings.Contains(s.Text, "(") && !strings.Contains(s.Text, ")") {
			hint = "; inside { } YAML ends a value at a comma, so quote the type, as in 'numeric(12,2)'"
		}
		if hint == "" {
			hint = "; there are text, varchar(n), uuid, smallint, integer, bigint, boolean, numeric(p,s), double precision, timestamptz, date, jsonb and bytea"
		}
		c.errorf(s.Pos, CodeType, "type %s is not known%s", quote(s.Text), hint)
	}
	return t, ok
}

// besideKey are the columns that stand beside the key in the history and the
// facts of a machine.
var besideKey = map[string]bool{
	"event": true, "from_status": true, "to_status": true, "actor": true, "reason": true, "request_id": true,
	"forced": true, "at": true, "identity": true, "fingerprint": true, "outcome": true,
}
