package mutate

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// orderOperators break locks, the order of rows and how many there are.
var orderOperators = []Operator{
	{Name: "lock-drop", Describe: "does not lock the row", sites: changeLock("")},
	{Name: "lock-strong", Describe: "locks the row against rows that refer to it, too", sites: changeLock("FOR UPDATE")},
	{Name: "lock-weak", Describe: "locks the row so that others can lock it too", sites: changeLock("FOR SHARE")},
	{Name: "lock-wait", Describe: "waits for a locked row, or gives up at once, where it was the other way round", sites: lockWait},
	{Name: "order-turn", Describe: "sorts the other way round", sites: turnOrder},
	{Name: "order-drop", Describe: "does not sort", sites: dropOrder},
	{Name: "limit-drop", Describe: "takes all rows, or from the first one on", sites: dropLimit},
}

// locking returns the tokens of a select's FOR NO KEY UPDATE OF o, from FOR to o.
func (t *text) locking(n *node) (first, last int, ok bool) {
	lock := n.one("locking_clause")
	if n.kind != "SelectStmt" || lock == nil {
		return 0, 0, false
	}
	last = t.ending(lock.hi)
	for first = last; first >= 0; first-- {
		if t.is(first, pg.Token_FOR) {
			return first, last, true
		}
	}
	return 0, 0, false
}

func changeLock(to string) func(*place, *node, func(...edit)) {
	return func(p *place, n *node, add func(...edit)) {
		first, last, ok := p.locking(n)
		if !ok {
			return
		}
		hi := p.tokens[last].hi
		if to != "" {
			add(edit{p.tokens[first].lo, p.tokens[last-2].hi, to})
			return
		}
		if p.is(last+1, pg.Token_SKIP) {
			hi = p.tokens[last+2].hi
		}
		add(edit{p.tokens[first].lo, hi, ""})
	}
}

func lockWait(p *place, n *node, add func(...edit)) {
	_, last, ok := p.locking(n)
	if !ok {
		return
	}
	if hi := p.tokens[last].hi; p.is(last+1, pg.Token_SKIP) {
		add(edit{hi, p.tokens[last+2].hi, ""})
	} else {
		add(edit{hi, hi, " NOWAIT"})
		add(edit{hi, hi, " SKIP LOCKED"})
	}
}

func turnOrder(p *place, n *node, add func(...edit)) {
	if n.kind != "SortBy" {
		return
	}
	if last := p.tokens[p.ending(n.hi)]; last.kind == pg.Token_DESC {
		add(edit{n.lo, n.hi, strings.TrimSpace(p.sql[n.lo:last.lo])})
	} else {
		add(edit{n.lo, n.hi, p.of(n) + " DESC"})
	}
}

func dropOrder(p *place, n *node, add func(...edit)) {
	list := n.all("sort_clause")
	if n.kind != "SelectStmt" || len(list) == 0 {
		return
	}
	if len(list) > 1 {
		for i := range list {
			add(without(list, i))
		}
	}
	if i := p.at(list[0].lo) - 2; p.is(i, pg.Token_ORDER) {
		add(edit{p.tokens[i].lo, list[len(list)-1].hi, ""})
	}
}

func dropLimit(p *place, n *node, add func(...edit)) {
	for _, role := range []string{"limit_count", "limit_offset"} {
		if k := n.one(role); n.kind == "SelectStmt" && k != nil {
			add(edit{p.tokens[p.at(k.lo)-1].lo, k.hi, ""})
		}
	}
}
