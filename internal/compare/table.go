package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// What generate does about a change, as reasons say it.
const (
	byHand       = "generate makes no migration of it (FSM090); write one by hand"
	untilAdvance = "until --advance"
)

func (d *differ) table() {
	o, n := d.old.Table, d.new.Table
	switch {
	case o == nil && n == nil:
		return
	case o == nil:
		d.add(TableAdded, "table", diag.Position{}, n.Pos, Minor, "the machine has a table now: "+n.Name, callers("the calls of the machine are generated"))
		return
	case n == nil:
		d.add(TableRemoved, "table", o.Pos, diag.Position{}, Major, "the machine has no table any more; it was "+o.Name,
			breaks(rows("those of "+o.Name+" stay where they stand: no new program moves them")), breaks(callers("every call of the package is gone")))
		return
	}
	if o.Name != n.Name {
		d.add(TableName, "table.name", o.Pos, n.Pos, Major, "the table is called "+n.Name+"; it was "+o.Name,
			breaks(programs("they look for "+o.Name)), breaks(rows("they are in "+o.Name+"; "+byHand)))
	}
	if was, is := keyText(o), keyText(n); was != is {
		d.add(TableKey, "table.key", keyPos(o), keyPos(n), Major, "the key is "+is+"; it was "+was,
			breaks(programs("they find rows by "+was)), breaks(rows("history and facts are kept by the key; "+byHand)),
			breaks(callers("the type Key is another")))
	}
	if was, is := storage(o), storage(n); was != is {
		d.add(TableStorage, "table.status", statusPos(o), statusPos(n), Patch, "a state is kept as "+is+"; it was "+was,
			breaks(programs("they read and write "+was)), breaks(rows("they hold "+was+"; "+byHand)))
	}
	d.own("status", o.Status.Column, n.Status.Column, statusPos(o), statusPos(n), true, true)
	d.own("version", o.Version, n.Version, o.Pos, n.Pos, true, true)
	d.own("deadline", o.Deadline, n.Deadline, o.Pos, n.Pos, d.old.Deadlines(), d.new.Deadlines())
	d.own("deadline.runs", o.Runs, n.Runs, o.Pos, n.Pos, d.old.CountsRuns(), d.new.CountsRuns())
	if o.Existing != n.Existing {
		text, r := "the table counts as one that was there before the machine", rows("only how migrations are written changes")
		if !n.Existing {
			text = "the table counts as the machine's own"
			r = breaks(rows("its primary key and checks may be called otherwise than those that fsmgen makes, so calls and migrations fail"))
		}
		d.add(TableExisting, "table.existing", o.Pos, n.Pos, Patch, text, r)
	}
	d.history(o, n)
	for _, p := range merged(o.Columns, n.Columns, func(a, b *model.Column) bool { return a.Name == b.Name }) {
		d.column(p.old, p.new)
	}
}

// own compares the name of one of the machine's own columns.
func (d *differ) own(what, was, is string, op, np diag.Position, wasUsed, isUsed bool) {
	if was == is {
		return
	}
	text := "the " + what + " column is " + is + "; it was " + was
	if !wasUsed || !isUsed {
		d.add(TableOwn, "table."+what, op, np, Patch, text, breaks(rows("no row needs that column yet, but "+byHand)))
		return
	}
	d.add(TableOwn, "table."+what, op, np, Patch, text,
		breaks(programs("they read and write "+was)), breaks(rows("their values are in "+was+"; "+byHand)))
}

func keyText(t *model.Table) string {
	keys := make([]string, len(t.Keys))
	for i, k := range t.Keys {
		keys[i] = k.Name + " " + k.Type.SQL
	}
	return list(keys)
}

func keyPos(t *model.Table) diag.Position {
	if len(t.Keys) == 0 {
		return t.Pos
	}
	return t.Keys[0].Pos
}

func statusPos(t *model.Table) diag.Position {
	if t.Status.Pos.Line == 0 {
		return t.Pos
	}
	return t.Status.Pos
}

func storage(t *model.Table) string {
	switch t.Status.Storage {
	case model.StoredEnum:
		return "a value of the enum " + t.Status.Type
	case model.StoredCode:
		return "a code of type " + t.Status.Type
	}
	return "its name, as text"
}

// field says what CreateParams holds for a column.
type field int

const (
	absent field = iota
	value
	pointer
)

func createField(m *model.Machine, c *model.Column) field {
	switch {
	case !slices.Contains(m.Created(), c):
		return absent
	case c.Optional || c.Default != nil:
		return pointer
	}
	return value
}

// createReason says what becomes of a column in CreateParams; ok is false when
// nothing does.
func (d *differ) createReason(o, n *model.Column) (r Reason, ok bool) {
	was, is := createField(d.old, o), createField(d.new, n)
	switch {
	case was == is:
		return r, false
	case was == absent && is == value:
		return breaks(callers("CreateParams." + n.Ident + " is new and must be given")), true
	case was == absent:
		return callers("CreateParams." + n.Ident + " is new and may be nil"), true
	case is == absent:
		return breaks(callers("CreateParams." + o.Ident + " is gone: transitions set the column")), true
	case is == pointer:
		return breaks(callers("CreateParams." + n.Ident + " is a pointer now, so its callers do not compile")), true
	}
	return breaks(callers("CreateParams." + n.Ident + " is no pointer any more and must be given")), true
}
