package mutate

import (
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// schemaOperators break tables and triggers.
var schemaOperators = []Operator{
	{Name: "constraint-drop", Describe: "leaves a constraint of a table, or of a column, out", Migration: true, sites: dropConstraint},
	{Name: "key-drop", Describe: "leaves a column out of a primary key", Migration: true, sites: dropKey},
	{Name: "object-drop", Describe: "leaves a trigger or an index out", Migration: true, sites: dropObject},
	{Name: "trigger-narrow", Describe: "lets a trigger see updates that name the status alone", Migration: true, sites: narrowTrigger},
}

func dropConstraint(p *place, n *node, add func(...edit)) {
	if n.kind != "Constraint" {
		return
	}
	if n.parent.kind == "CreateStmt" {
		list := n.parent.all("table_elts")
		for i, k := range list {
			if k == n && i > 0 {
				add(edit{p.tokens[p.at(n.lo)-1].lo, n.hi, ""})
			}
		}
		return
	}
	if n.str("contype") != "CONSTR_NOTNULL" || !keyed(n.parent) {
		add(edit{n.lo, n.hi, ""})
	}
}

// keyed reports whether a column is part of its table's primary key, and so never NULL.
func keyed(column *node) bool {
	for _, c := range column.parent.all("table_elts") {
		if c.kind == "Constraint" && c.str("contype") == "CONSTR_PRIMARY" && slices.Contains(c.names("keys"), column.str("colname")) {
			return true
		}
	}
	return false
}

// dropKey leaves out each column of a key of several.
func dropKey(p *place, n *node, add func(...edit)) {
	if n.kind != "Constraint" || n.str("contype") != "CONSTR_PRIMARY" {
		return
	}
	open := p.behind(n.lo, n.hi, pg.Token_ASCII_40)
	if open < 0 {
		return
	}
	end := p.match(open)
	for i := open + 1; i < end && end > open+2; i += 2 {
		if i == open+1 {
			add(edit{p.tokens[i].lo, p.tokens[i+2].lo, ""})
		} else {
			add(edit{p.tokens[i-1].lo, p.tokens[i].hi, ""})
		}
	}
}

func dropObject(_ *place, n *node, add func(...edit)) {
	if n.kind == "CreateTrigStmt" || n.kind == "IndexStmt" {
		add(edit{n.lo, n.hi, ""})
	}
}

func narrowTrigger(p *place, n *node, add func(...edit)) {
	if n.kind != "CreateTrigStmt" {
		return
	}
	if i := p.behind(n.lo, n.hi, pg.Token_UPDATE); i >= 0 && p.is(i+1, pg.Token_ON) {
		add(edit{p.tokens[i].hi, p.tokens[i].hi, " OF status"})
	}
}

// fragments are the parts of a function's body that are plain SQL: the condition
// of IF, and DELETE.
var fragments = regexp.MustCompile(`(?s)\bIF (.+?) THEN|(DELETE FROM .+?);`)

// body adds what an operator makes of the SQL in the body of a function, which to
// the parser is a string.
func (m *maker) body(op Operator, function *node) error {
	sql := m.source.Text
	open := strings.Index(sql[function.lo:function.hi], "AS $$")
	if open < 0 {
		return nil
	}
	body := function.lo + open + len("AS $$")
	end := strings.Index(sql[body:], "$$")
	if end < 0 {
		return nil
	}
	for _, found := range fragments.FindAllStringSubmatchIndex(sql[body:body+end], -1) {
		lo, hi, before := found[2], found[3], "SELECT "
		if lo < 0 {
			lo, hi, before = found[4], found[5], ""
		}
		t, err := read(before + sql[body+lo:body+hi])
		if err != nil {
			return err
		}
		shift := body + lo - len(before)
		for _, root := range t.roots {
			root.walk(func(n *node) {
				op.sites(&place{t, m.source.words}, n, func(edits ...edit) {
					for i := range edits {
						edits[i].lo, edits[i].hi = edits[i].lo+shift, edits[i].hi+shift
					}
					m.add(op.Name, edits)
				})
			})
		}
	}
	return nil
}
