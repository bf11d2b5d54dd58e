package check

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// ownColumns reads what the table calls the machine's own columns, and how it
// keeps the state.
func (c *checker) ownColumns(t *model.Table, fields *syntax.Mapping) {
	t.Status = model.Status{Column: model.StatusColumn, Type: "text", Pos: t.Pos}
	t.Version, t.Deadline, t.Runs = model.VersionColumn, model.DeadlineColumn, model.DeadlineRunsColumn
	t.VersionType = versionTypes[0]
	var given []*syntax.Scalar
	name := func(n *syntax.Node, what string, into *string) {
		if n.IsNull() {
			return
		}
		if s := c.nameValue(n, what); s != nil && c.columnName(s) {
			*into = s.Text
			given = append(given, s)
		}
	}
	c.status(t, fields, name)
	if n := fields.Get("version"); n.AsMapping() != nil {
		c.versionColumn(t, n.AsMapping(), name)
	} else {
		name(n, "\"version\"", &t.Version)
	}
	if n := fields.Get("deadline"); n.AsMapping() != nil {
		due := n.AsMapping()
		c.keys(due, "due")
		name(due.Get("at"), "\"at\"", &t.Deadline)
		name(due.Get("runs"), "\"runs\"", &t.Runs)
	} else {
		name(n, "\"deadline\"", &t.Deadline)
	}
	for _, s := range slices.Backward(given) {
		if first := slices.Index(t.Own(), s.Text); slices.Contains(t.Own()[first+1:], s.Text) {
			c.errorf(s.Pos, CodeOwnColumn, "two of the machine's own columns would be called %s; give one of them another name", quote(s.Text))
			return
		}
	}
}

// versionColumn reads a version whose type is given.
func (c *checker) versionColumn(t *model.Table, fields *syntax.Mapping, name func(*syntax.Node, string, *string)) {
	c.keys(fields, "version")
	name(fields.Get("column"), "\"column\"", &t.Version)
	n := fields.Get("type")
	if n == nil {
		return
	}
	typ, ok := c.typeOf(n)
	switch {
	case !ok:
	case !slices.Contains(versionTypes, typ.SQL):
		c.errorf(n.Pos, CodeStatus, "a version cannot be %s; use bigint, or integer where the column is there already", typ.SQL)
	default:
		t.VersionType = typ.SQL
	}
}

func (c *checker) status(t *model.Table, fields *syntax.Mapping, name func(*syntax.Node, string, *string)) {
	n := fields.Get("status")
	if n.AsMapping() == nil {
		name(n, "\"status\"", &t.Status.Column)
		return
	}
	status := n.AsMapping()
	c.keys(status, "status")
	t.Status.Pos = n.Pos
	name(status.Get("column"), "\"column\"", &t.Status.Column)
	typed, enum := status.Get("type"), status.Get("enum")
	if !typed.IsNull() && !enum.IsNull() {
		c.errorf(enum.Pos, CodeStatus, "the status column has a type and an enum; delete one")
		return
	}
	if !enum.IsNull() {
		if s := c.nameValue(enum, "\"enum\""); s != nil && c.lowerName(s, "enum", maxName) {
			t.Status.Storage, t.Status.Type = model.StoredEnum, s.Text
			t.Status.Pos = s.Pos
			switch _, known := model.ParseType(s.Text); {
			case known:
				c.errorf(s.Pos, CodeStatus, "%s is a type of PostgreSQL and no enum; write type: %s", quote(s.Text), s.Text)
			case builtinTypes[s.Text] || strings.HasPrefix(s.Text, "pg_"):
				c.errorf(s.Pos, CodeStatus, "%s is a type of PostgreSQL itself, so no enum can be called so; give the enum another name", quote(s.Text))
			case takenTypes[s.Text]:
				c.errorf(s.Pos, CodeStatus, "%s is a table that migrations keep, and a table's name is a type's name too; give the enum another name", quote(s.Text))
			}
		}
		return
	}
	if typed.IsNull() {
		return
	}
	typ, ok := c.typeOf(typed)
	switch {
	case !ok:
	case !slices.Contains(statusTypes, typ.SQL):
		c.errorf(typed.Pos, CodeStatus, "a status column cannot be %s; use text, smallint, integer or bigint, or enum: with the enum's name", typ.SQL)
	case typ.SQL != "text":
		t.Status.Storage, t.Status.Type = model.StoredCode, typ.SQL
	}
}

// enumLabels refuses what no enum can have as a label: sqlc writes the labels into Go as
// they are, between double quotes.
func (c *checker) enumLabels() {
	t := c.machine.Table
	if t == nil || t.Status.Storage != model.StoredEnum {
		return
	}
	for _, s := range c.machine.States {
		for _, name := range []struct {
			text string
			pos  diag.Position
		}{{s.Name, s.Pos}, {s.Was, s.WasPos}} {
			if strings.ContainsAny(name.text, "\"\\") {
				c.errorf(name.pos, CodeStatus, "state %s cannot be a label of an enum, since it has a double quote or a backslash in it; rename it, or keep the states as text", quote(name.text))
			}
		}
	}
}

// codes reads what stands for the states in a status column of an integer type.
func (c *checker) codes() {
	t := c.machine.Table
	coded := t != nil && t.Status.Storage == model.StoredCode
	taken := make(map[int]*model.State)
	for _, d := range c.stateDecls {
		entry, ok := d.fields.Entry("code")
		switch {
		case !coded && ok:
			c.errorf(entry.Key.Pos, CodeStatus, "state %s has a code, but its name is what the status column holds; delete it, or write status: {type: smallint} in the table", quote(d.state.Name))
			continue
		case !coded:
			continue
		case !ok:
			c.errorf(d.state.Pos, CodeStatus, "state %s has no code, and the status column holds codes; write code: %d", quote(d.state.Name), 10*(d.state.Index+1))
			continue
		}
		code, ok := entry.Value.AsScalar().Int()
		if !ok || t.Status.Type == "smallint" && (code < -32768 || code > 32767) {
			c.errorf(entry.Value.Pos, CodeStatus, "a code must be a whole number that fits the status column, %s", t.Status.Type)
			continue
		}
		if other := taken[code]; other != nil {
			c.errorf(entry.Value.Pos, CodeStatus, "states %s and %s both have code %d; give one another", quote(other.Name), quote(d.state.Name), code)
			continue
		}
		taken[code] = d.state
		d.state.Code, d.state.CodePos = code, entry.Value.Pos
	}
}

// isOwn reports whether the column is one of the machine's own.
func (c *checker) isOwn(name string) bool {
	return c.machine.Table != nil && slices.Contains(c.machine.Table.Own(), name)
}

// isKey reports whether the column is one of the table's key.
func (c *checker) isKey(name string) bool {
	t := c.machine.Table
	return t != nil && slices.ContainsFunc(t.Keys, func(k *model.Column) bool { return k.Name == name })
}

// formerNames reads was and retired: a name that is free for it, and states
// that nothing enters.
func (c *checker) formerNames() {
	names := make(map[string]diag.Position)
	for _, s := range c.machine.States {
		names[s.Name] = s.Pos
	}
	for _, d := range c.stateDecls {
		s := d.state
		if n := d.fields.Get("was"); !n.IsNull() {
			was := c.nameValue(n, "\"was\"")
			if was == nil || !c.printableName(was, "state") {
				continue
			}
			if was.Text == s.Name {
				c.errorf(was.Pos, CodeFormerName, "state %s is called so now; was is for the name that it had before", quote(s.Name))
				continue
			}
			if other, taken := names[was.Text]; taken {
				c.errorf(was.Pos, CodeFormerName, "%s is the name of another state, at line %d; a former name belongs to one state alone", quote(was.Text), other.Line)
				continue
			}
			names[was.Text] = was.Pos
			s.Was, s.WasPos = was.Text, was.Pos
		}
		switch pos := keyPos(d.fields, "retired", s.Pos); {
		case s.Retired && s.Initial:
			c.errorf(pos, CodeRetired, "state %s is initial, so rows are created in it, and retired, so none may enter it; delete one of the two", quote(s.Name))
		case s.Retired && s.Final:
			c.errorf(pos, CodeRetired, "state %s is final, so the rows in it could never leave it; let a transition lead out and delete final, or keep the state", quote(s.Name))
		}
	}
	for _, d := range c.transDecls {
		if d.t.To.Retired {
			c.errorf(d.to, CodeRetired, "state %s is retired, so no transition may lead to it; lead it elsewhere", quote(d.t.To.Name))
		}
	}
}
