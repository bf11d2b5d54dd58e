package compare

import (
	"regexp"
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
		reasons = append(reasons, rows("those that are there get the default"), programs("they leave it to the default"))
	case n.Optional:
		text += ", optional"
		reasons = append(reasons, rows("those that are there have NULL in it"), programs("they leave it NULL"))
	case d.new.Table.Existing:
		text += ", without a default"
		reasons = append(reasons, rows("the table is an existing one, so they have a value"))
	default:
		text += ", without a default"
		reasons = append(reasons, breaks(rows("those that are there have no value for it; give it a default or make it optional")),
			breaks(programs("they create rows without it, which are refused")))
	}
	switch createField(d.new, n) {
	case value:
		reasons = append(reasons, breaks(callers("CreateParams."+n.Ident+" must be given; left out, it is the zero value and compiles")))
	case pointer:
		reasons = append(reasons, callers("CreateParams."+n.Ident+" may be nil"))
	}
	d.add(ColumnAdded, "table.columns."+n.Name, diag.Position{}, n.Pos, Minor, text, reasons...)
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
	if !o.Optional && o.Default == nil {
		reasons = append(reasons, breaks(programs("they cannot read the NULL that new rows have in it")))
	}
	d.add(ColumnRemoved, "table.columns."+o.Name, o.Pos, diag.Position{}, Major, "column "+o.Name+" is removed", reasons...)
}

func (d *differ) columnType(path string, o, n *model.Column) {
	text := "column " + n.Name + " is " + n.Type.SQL + "; it was " + o.Type.SQL
	var reasons []Reason
	if widens(o.Type, n.Type) {
		reasons = append(reasons, rows("every value fits"), programs("they read what they wrote; a value that is too large for them is an error, never cut off"))
	} else {
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
			breaks(programs("they cannot read a NULL in it")), breaks(callers("Row."+n.Ident+" is a pointer now")))
		return
	}
	r := breaks(rows("those that have NULL in it stop the migration; give it a default"))
	if n.Default != nil {
		r = rows("those that have NULL in it get the default")
	}
	d.add(ColumnOptional, path+".optional", o.Pos, n.Pos, Major, "column "+n.Name+" may not be NULL any more",
		breaks(programs("they may write a NULL, which is refused")), r, breaks(callers("Row."+n.Ident+" is no pointer any more")))
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
		reasons = append(reasons, breaks(programs("they may create rows without it, which are refused")))
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
		d.add(ColumnCheck, path+".check", o.Pos, n.Pos, Minor, text, rows("all that are there meet it"),
			programs("they may read values that they would have refused"))
		return
	}
	d.add(ColumnCheck, path+".check", o.Pos, n.Pos, Major, text, breaks(rows("one that does not meet it stops the migration")),
		breaks(programs("what they write may be refused after fsmgen generate --advance")))
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

// widens reports whether every value of o is one of n, and reads the same.
func widens(o, n model.Type) bool {
	integers := map[model.Kind]int{model.KindInt16: 1, model.KindInt32: 2, model.KindInt64: 3}
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
