package compare

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
)

func (d *differ) column(o, n *model.Column) {
	switch {
	case o == nil:
		d.columnAdded(n)
		return
	case n == nil:
		d.columnRemoved(o)
		return
	}
	path, what := "table.columns."+n.Name, "column "+n.Name
	shape := false // whether type, optional or default changed, which says what becomes of CreateParams
	if o.Type.SQL != n.Type.SQL {
		d.columnType(path, o, n)
	}
	if o.Optional != n.Optional {
		d.columnOptional(path, o, n)
		shape = true
	}
	if !same(o.Default, n.Default) {
		d.columnDefault(path, o, n, shape)
		shape = true
	}
	if !same(o.Check, n.Check) {
		d.columnCheck(path, o, n)
	}
	if r, ok := d.createReason(o, n); ok && !shape {
		text := "a creator gives " + what
		if createField(d.new, n) == absent {
			text = "a creator does not give " + what + " any more"
		}
		d.add(ColumnCreate, path, o.Pos, n.Pos, Minor, text, r)
	}
	if o.Describe != n.Describe {
		d.add(ColumnDescribe, path+".describe", o.Pos, n.Pos, Patch, what+" is described anew")
	}
}

func (d *differ) columnAdded(n *model.Column) {
	text := "column " + n.Name + " is new, " + n.Type.SQL
	reasons := []Reason{callers("Row." + n.Ident + " is new")}
	switch {
	case n.Default != nil:
		text += ", with the default " + oneLine(n.Default.Source)
		reasons = append(reasons, rows("those that are there get the default"+d.unlessThere()), programs("they leave it to the default"))
	case n.Optional:
		text += ", optional"
		reasons = append(reasons, rows("those that are there have NULL in it"+d.unlessThere()), programs("they leave it NULL"))
	case d.new.Table.Existing:
		text += ", without a default"
		reasons = append(reasons, breaks(rows("the migration stops, with nothing changed, unless the table has the column already, with a value in every row")),
			breaks(programs("they create rows without it, which are refused unless the table has a default of its own")))
	default:
		text += ", without a default"
		reasons = append(reasons, breaks(rows("those that are there have no value for it: give it a default, make it optional, or migrate it by hand (FSM090)")),
			breaks(programs("they create rows without it, which are refused")))
	}
	if d.looksBack(n.Check) {
		reasons = append(reasons, breaks(rows("its check looks at columns that were there: one that does not meet it stops the migration of --advance")))
	}
	switch createField(d.new, n) {
	case value:
		reasons = append(reasons, breaks(callers("CreateParams."+n.Ident+" must be given; left out, it is the zero value and compiles")))
	case pointer:
		reasons = append(reasons, callers("CreateParams."+n.Ident+" may be nil"))
	}
	d.add(ColumnAdded, "table.columns."+n.Name, diag.Position{}, n.Pos, Minor, text, reasons...)
}

// unlessThere is what becomes of rows in a table that was there before the
// machine: only the database knows whether it has the column.
func (d *differ) unlessThere() string {
	if !d.new.Table.Existing {
		return ""
	}
	return "; if the table has the column already, they keep what they have"
}

// looksBack reports whether a new column's check looks at a column of old.
func (d *differ) looksBack(check *model.Expr) bool {
	if check == nil {
		return false
	}
	return slices.ContainsFunc(check.Parts, func(part model.Part) bool {
		return part.Kind == model.ColumnRef && slices.ContainsFunc(d.old.Table.Columns, func(c *model.Column) bool { return c.Name == part.Text })
	})
}

func (d *differ) columnRemoved(o *model.Column) {
	reasons := []Reason{rows("the column stays in the table, with its values")}
	gone := "Row." + o.Ident
	if createField(d.old, o) != absent {
		gone += " and CreateParams." + o.Ident + " are gone"
	} else {
		gone += " is gone"
	}
	reasons = append(reasons, breaks(callers(gone)))
	if !o.Optional {
		value := "an empty text, 0 or the like"
		if o.Default != nil {
			value = "its default"
		}
		reasons = append(reasons, programs("they find "+value+" in new rows "+untilAdvance+", and no NULL"))
	}
	d.add(ColumnRemoved, "table.columns."+o.Name, o.Pos, diag.Position{}, Major, "column "+o.Name+" is removed", reasons...)
}

func (d *differ) columnType(path string, o, n *model.Column) {
	text := "column " + n.Name + " is " + n.Type.SQL + "; it was " + o.Type.SQL
	var reasons []Reason
	const reads = "they read what they wrote; a value that is too large for them is an error, never cut off"
	switch {
	case integers[o.Type.Kind] > 0 && widens(o.Type, n.Type):
		reasons = append(reasons, rows("every value fits"), programs(reads+"; a call that was prepared before fails once on each connection, with nothing done"))
	case widens(o.Type, n.Type):
		reasons = append(reasons, breaks(rows("every value fits, but "+byHand)), programs(reads))
	default:
		reasons = append(reasons, breaks(rows("a value may not fit; "+byHand)), breaks(programs("they read and write "+o.Type.SQL)))
	}
	if o.Type.Kind != n.Type.Kind {
		reasons = append(reasons, breaks(callers("the fields "+n.Ident+" have another Go type")))
	}
	d.add(ColumnType, path+".type", o.Pos, n.Pos, Minor, text, reasons...)
}

func (d *differ) columnOptional(path string, o, n *model.Column) {
	if n.Optional {
		d.add(ColumnOptional, path+".optional", o.Pos, n.Pos, Major, "column "+n.Name+" may be NULL now",
			breaks(programs("they cannot read a NULL in it: write none before they are stopped (FSM096)")), breaks(callers("Row."+n.Ident+" is a pointer now")))
		return
	}
	var reasons []Reason
	switch {
	case n.Default == nil:
		reasons = []Reason{breaks(rows("those that have NULL in it have no value: give it a default, leave it optional, or migrate it by hand (FSM090)")),
			breaks(programs("they may write a NULL, which is refused"))}
	case o.Default == nil:
		reasons = []Reason{rows("those that have NULL in it get the default"),
			breaks(programs("they create rows without it, which had no default: give it one first, and require it in a later release (FSM098)"))}
	default:
		reasons = []Reason{rows("those that have NULL in it get the default"), programs("a NULL that they write becomes the default " + untilAdvance)}
	}
	d.add(ColumnOptional, path+".optional", o.Pos, n.Pos, Major, "column "+n.Name+" may not be NULL any more",
		append(reasons, breaks(callers("Row."+n.Ident+" is no pointer any more")))...)
}

func (d *differ) columnDefault(path string, o, n *model.Column, shape bool) {
	was, is := "none", "none"
	if o.Default != nil {
		was = oneLine(o.Default.Source)
	}
	if n.Default != nil {
		is = oneLine(n.Default.Source)
	}
	reasons := []Reason{rows("those that are there keep what they have; only new ones get another value")}
	if n.Default == nil && !n.Optional && !shape {
		r := programs("they go on writing " + was + " where a creator gives none")
		if createField(d.old, o) == absent {
			r = programs("they leave it to the default, which stays " + untilAdvance)
		}
		reasons = append(reasons, r)
	}
	if r, ok := d.createReason(o, n); ok {
		reasons = append(reasons, r)
	}
	d.add(ColumnDefault, path+".default", o.Pos, n.Pos, Minor, "the default of column "+n.Name+" is "+is+"; it was "+was, reasons...)
}

func (d *differ) columnCheck(path string, o, n *model.Column) {
	how, text := checks(o.Check, n.Check)
	text = "the check of column " + n.Name + " is " + text
	if how == looser {
		r := rows("all that are there meet it; the one of before is accepted too " + untilAdvance)
		if n.Check == nil {
			r = rows("all that are there are right")
		}
		d.add(ColumnCheck, path+".check", o.Pos, n.Pos, Minor, text, r, programs("they may read values that they would have refused"))
		return
	}
	before := "the one of before"
	if o.Check == nil {
		before = "none"
	}
	d.add(ColumnCheck, path+".check", o.Pos, n.Pos, Major, text, breaks(rows("one that does not meet it stops the migration of --advance")),
		programs("they write by "+before+", which is accepted until then"), breaks(callers("what does not meet it is refused from then on")))
}

// strictness compares two conditions.
type strictness int

const (
	looser strictness = iota
	stricter
	other
)

// checks compares two checks, at least one of which is there, and tells both.
func checks(o, n *model.Expr) (strictness, string) {
	switch {
	case o == nil:
		return stricter, "new: " + oneLine(n.Source)
	case n == nil:
		return looser, "removed; it was " + oneLine(o.Source)
	}
	both := oneLine(n.Source) + "; it was " + oneLine(o.Source)
	was, is := sqlexpr.FormOf(o.Source), sqlexpr.FormOf(n.Source)
	switch {
	case was.Implies(is):
		return looser, "looser: " + both
	case is.Implies(was):
		return stricter, "stricter: " + both
	}
	return other, "another: " + both
}

// same reports whether two expressions, either of which may be nil, say the same.
func same(o, n *model.Expr) bool {
	if o == nil || n == nil {
		return o == n
	}
	return o.Source == n.Source || sqlexpr.FormOf(o.Source).Equal(sqlexpr.FormOf(n.Source))
}

var sized = regexp.MustCompile(`\((\d+)(?:,(\d+))?\)$`)

// size returns the length, or precision and scale, of a type; ok is false for one without.
func size(t model.Type) (first, second int, ok bool) {
	m := sized.FindStringSubmatch(t.SQL)
	if m == nil {
		return 0, 0, false
	}
	first, _ = strconv.Atoi(m[1])
	second, _ = strconv.Atoi(m[2])
	return first, second, true
}

// integers ranks the integer types.
var integers = map[model.Kind]int{model.KindInt16: 1, model.KindInt32: 2, model.KindInt64: 3}

// widens reports whether every value of o is one of n, and reads the same.
func widens(o, n model.Type) bool {
	if integers[o.Kind] > 0 && integers[n.Kind] > 0 {
		return integers[o.Kind] <= integers[n.Kind]
	}
	if o.Kind != n.Kind || o.Kind != model.KindText && o.Kind != model.KindNumeric {
		return o.SQL == n.SQL
	}
	of, os, oSized := size(o)
	nf, ns, nSized := size(n)
	return !nSized || oSized && os <= ns && of-os <= nf-ns
}
