package mutate

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// clauseOperators leave whole parts of a statement out, or do them twice.
var clauseOperators = []Operator{
	{Name: "write-drop", Describe: "leaves history, outbox or audit out", sites: dropWrite},
	{Name: "write-twice", Describe: "writes history, outbox or audit twice", sites: twiceWrite},
	{Name: "join-drop", Describe: "does not ask one of the rows that are joined", sites: dropJoin},
	{Name: "join-kind", Describe: "keeps, or loses, a row that finds no partner", sites: joinKind},
	{Name: "answer-drop", Describe: "leaves one of the answers of a statement out", sites: dropAnswer},
	{Name: "exists-other", Describe: "asks another part of the statement whether it did something", sites: otherExists},
	{Name: "conflict-drop", Describe: "leaves ON CONFLICT out", sites: dropConflict},
	{Name: "materialized-drop", Describe: "leaves MATERIALIZED out", sites: dropMaterialized},
}

// parts returns the names of a statement's WITH, and how often each is read.
func (t *text) parts() ([]*node, map[string]int) {
	var ctes []*node
	read := map[string]int{}
	for _, r := range t.roots {
		r.walk(func(n *node) {
			switch n.kind {
			case "CommonTableExpr":
				ctes = append(ctes, n)
			case "RangeVar":
				read[n.str("relname")]++
			}
		})
	}
	return ctes, read
}

func dropWrite(p *place, n *node, add func(...edit)) {
	if n.kind != "WithClause" {
		return
	}
	_, read := p.parts()
	ctes := n.all("ctes")
	for i, c := range ctes {
		if read[c.str("ctename")] == 0 && len(ctes) > 1 {
			add(without(ctes, i))
		}
	}
}

func twiceWrite(p *place, n *node, add func(...edit)) {
	if n.kind != "CommonTableExpr" {
		return
	}
	_, read := p.parts()
	if name := n.str("ctename"); read[name] == 0 {
		add(edit{n.hi, n.hi, ", " + name + "_again" + p.of(n)[len(name):]})
	}
}

func dropJoin(p *place, n *node, add func(...edit)) {
	if n.kind == "JoinExpr" {
		add(edit{n.lo, n.hi, p.of(n.one("larg"))})
	}
}

func joinKind(p *place, n *node, add func(...edit)) {
	if n.kind != "JoinExpr" || n.one("quals") == nil {
		return
	}
	from, until := n.one("larg").hi, n.one("rarg").lo
	if i := p.behind(from, until, pg.Token_LEFT); i >= 0 {
		add(edit{p.tokens[i].lo, p.tokens[i+1].lo, ""})
	} else if i := p.behind(from, until, pg.Token_JOIN); i >= 0 {
		add(edit{p.tokens[i].lo, p.tokens[i].lo, "LEFT "})
	}
}

func dropAnswer(_ *place, n *node, add func(...edit)) {
	if n.kind != "SelectStmt" || n.str("op") != "SETOP_UNION" {
		return
	}
	left, right := n.one("larg"), n.one("rarg")
	add(edit{left.lo, right.lo, ""})
	add(edit{left.hi, right.hi, ""})
}

func otherExists(p *place, n *node, add func(...edit)) {
	if n.kind != "RangeVar" || n.above("SubLink") == nil {
		return
	}
	ctes, _ := p.parts()
	for _, c := range ctes {
		if name := c.str("ctename"); name != n.str("relname") {
			add(edit{n.lo, n.hi, name})
		}
	}
}

func dropConflict(_ *place, n *node, add func(...edit)) {
	if n.kind == "OnConflictClause" {
		add(edit{n.lo, n.hi, ""})
	}
}

func dropMaterialized(p *place, n *node, add func(...edit)) {
	if n.kind == "CommonTableExpr" {
		if i := p.behind(n.lo, n.one("ctequery").lo, pg.Token_MATERIALIZED); i >= 0 {
			add(edit{p.tokens[i].lo, p.tokens[i+1].lo, ""})
		}
	}
}
