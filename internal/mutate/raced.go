package mutate

import (
	"strings"
)

// racedOperators take the guarded order of a statement's parts apart: what is
// right alone and wrong when two calls meet.
var racedOperators = []Operator{
	{Name: "row-unlocked", Describe: "takes the row as the statement's snapshot has it, not as it was locked", sites: unlocked},
	{Name: "fact-unasked", Describe: "moves the row and writes its history whether or not the fact is new", sites: unasked},
	{Name: "emit-unasked", Describe: "emits of the locked row, whether or not the fact is new", sites: emitUnasked},
}

// cte returns the part of the statement with the name, or nil.
func (t *text) cte(name string) *node {
	ctes, _ := t.parts()
	for _, c := range ctes {
		if c.str("ctename") == name {
			return c
		}
	}
	return nil
}

func unlocked(p *place, n *node, add func(...edit)) {
	if n.kind != "RangeVar" || n.str("relname") != "locked" {
		return
	}
	query := p.cte("locked").one("ctequery")
	first, _, ok := p.locking(query)
	if !ok {
		return
	}
	snapshot := p.sql[query.lo:p.tokens[first-1].hi]
	add(edit{n.lo, n.hi, "(" + snapshot + ") AS " + p.rows(n)[0].alias})
}

// factJoins returns the edits that leave the join of a new fact out of a part.
func (p *place) factJoins(part string) []edit {
	var out []edit
	c := p.cte(part)
	if c == nil {
		return nil
	}
	c.walk(func(n *node) {
		if n.kind == "JoinExpr" && n.one("rarg").str("relname") == "fact" {
			out = append(out, edit{n.one("larg").hi, n.hi, ""})
		}
	})
	return out
}

// unasked leaves out the join of what moves, and has the history of what the fact
// was to be where the history is made of the fact.
func unasked(p *place, n *node, add func(...edit)) {
	if n.kind != "WithClause" || p.cte("fact") == nil {
		return
	}
	edits := append(p.factJoins("moved"), p.factJoins("history")...)
	if history := p.cte("history"); history != nil {
		history.walk(func(n *node) {
			if n.kind == "RangeVar" && n.str("relname") == "fact" && n.role != "rarg" {
				edits = append(edits, p.asked(n))
			}
		})
	}
	add(edits...)
}

// asked puts the very values that the fact was to be inserted with in the place of
// the inserted fact.
func (p *place) asked(n *node) edit {
	insert := p.cte("fact").one("ctequery")
	source := insert.one("select_stmt")
	values, columns := source.all("target_list"), insert.all("cols")
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = p.of(v) + " AS " + p.of(columns[i])
	}
	from := p.sql[values[len(values)-1].hi:source.hi]
	return edit{n.lo, n.hi, "(SELECT " + strings.Join(items, ", ") + from + ") AS " + p.rows(n)[0].alias}
}

// emitUnasked emits what the fact was to be, whether or not it is new.
func emitUnasked(p *place, n *node, add func(...edit)) {
	if n.kind != "RangeVar" || n.str("relname") != "fact" {
		return
	}
	part := n.above("CommonTableExpr")
	if part == nil || part.str("ctename") != "emitted" {
		return
	}
	add(p.asked(n))
}
