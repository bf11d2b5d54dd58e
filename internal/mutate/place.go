package mutate

import (
	"sort"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// place gives a node its bytes. The parser tells one position of most nodes;
// the rest follows from the nodes below it and from the tokens around them.
func (t *text) place(n *node) {
	lo, hi := -1, -1
	wide := func(a, b int) {
		if lo < 0 || a < lo {
			lo = a
		}
		hi = max(hi, b)
	}
	for _, k := range n.kids {
		if k.lo >= 0 {
			wide(k.lo, k.hi)
		}
	}
	if at := n.location(); at >= 0 {
		if i := t.at(at); i >= 0 {
			wide(t.tokens[i].lo, t.tokens[t.own(n, i)].hi)
		}
	}
	if lo < 0 {
		return
	}
	first, last := t.balance(t.at(lo), t.ending(hi))
	first, last = t.dress(n, first, last)
	n.lo, n.hi = t.tokens[first].lo, t.tokens[last].hi
}

// whole gives a statement all of its bytes, without blanks, comments and semicolon.
func (t *text) whole(root *node, from, length int) {
	first, last := t.at(from), len(t.tokens)-1
	if length > 0 {
		last = t.at(from+length) - 1
	}
	if length > 0 && last < 0 {
		last = len(t.tokens) - 1
	}
	if t.is(last, pg.Token_ASCII_59) {
		last--
	}
	if first >= 0 && first <= last {
		root.lo, root.hi = t.tokens[first].lo, t.tokens[last].hi
	}
}

// location returns what the parser says of the node's place, -1 for nothing.
func (n *node) location() int {
	f := n.msg.Descriptor().Fields().ByName("location")
	if f == nil {
		return -1
	}
	if n.kind == "String" || n.kind == "Alias" {
		return -1
	}
	return int(n.msg.Get(f).Int())
}

// at returns the index of the token that begins at the byte, or of the next
// one; -1 behind the last.
func (t *text) at(lo int) int {
	i := sort.Search(len(t.tokens), func(i int) bool { return t.tokens[i].lo >= lo })
	if i == len(t.tokens) {
		return -1
	}
	return i
}

// ending returns the index of the token that ends at the byte.
func (t *text) ending(hi int) int {
	return sort.Search(len(t.tokens), func(i int) bool { return t.tokens[i].hi >= hi })
}

// own returns the last token of what belongs to the node from its own position
// i on, besides its kids: the brackets of a call, NULL after IS.
func (t *text) own(n *node, i int) int {
	switch n.kind {
	case "ColumnRef", "RangeVar":
		for t.is(i+1, pg.Token_ASCII_46) {
			i += 2
		}
	case "FuncCall":
		for t.is(i+1, pg.Token_ASCII_46) {
			i += 2
		}
		if t.is(i+1, pg.Token_ASCII_40) {
			i = t.match(i + 1)
		}
	case "CoalesceExpr", "A_ArrayExpr", "MinMaxExpr", "TypeName":
		if t.is(i+1, pg.Token_ASCII_40) || t.is(i+1, pg.Token_ASCII_91) {
			i = t.match(i + 1)
		}
	case "NullTest", "BooleanTest":
		if t.is(i+1, pg.Token_NOT) {
			i++
		}
		i++
	case "Constraint":
		return t.constraint(n, i)
	case "OnConflictClause":
		for i+1 < len(t.tokens) && !t.is(i, pg.Token_NOTHING) {
			i++
		}
	}
	return min(i, len(t.tokens)-1)
}

// constraint returns the last token of a constraint without its condition.
func (t *text) constraint(n *node, i int) int {
	switch n.str("contype") {
	case "CONSTR_NOTNULL":
		i++
	case "CONSTR_IDENTITY":
		i += 3
	case "CONSTR_PRIMARY", "CONSTR_UNIQUE", "CONSTR_CHECK":
		for j := i; j < len(t.tokens); j++ {
			if t.is(j, pg.Token_ASCII_40) {
				return t.match(j)
			}
		}
	}
	return min(i, len(t.tokens)-1)
}

// dress adds what stands before and behind a node's kids: SELECT, LATERAL, an alias.
func (t *text) dress(n *node, first, last int) (int, int) {
	before := map[string]pg.Token{
		"SelectStmt": pg.Token_SELECT, "InsertStmt": pg.Token_INSERT, "UpdateStmt": pg.Token_UPDATE, "DeleteStmt": pg.Token_DELETE_P,
	}
	if len(n.all("values_lists")) > 0 {
		before["SelectStmt"] = pg.Token_VALUES
	}
	if word, ok := before[n.kind]; ok && !t.is(first, word) {
		for i := first; i >= 0; i-- {
			if t.is(i, word) {
				first = i
				break
			}
		}
	}
	switch n.kind {
	case "RangeSubselect":
		if t.is(first-1, pg.Token_ASCII_40) && t.is(last+1, pg.Token_ASCII_41) {
			first, last = first-1, last+1
		}
		fallthrough
	case "RangeFunction":
		if t.is(first-1, pg.Token_LATERAL_P) {
			first--
		}
		fallthrough
	case "RangeVar", "ResTarget":
		if t.is(last+1, pg.Token_AS) {
			last += 2
			if n.kind == "RangeFunction" && t.is(last+1, pg.Token_ASCII_40) {
				last = t.match(last + 1)
			}
		}
	case "SortBy":
		if t.is(last+1, pg.Token_DESC) || t.is(last+1, pg.Token_ASC) {
			last++
		}
	}
	return first, last
}

// balance widens a run of tokens until its brackets, and its CASE and END, are in pairs.
func (t *text) balance(first, last int) (int, int) {
	var open, missing int
	for i := first; i <= last; i++ {
		switch t.bracket(i) {
		case 1:
			open++
		case -1:
			if open > 0 {
				open--
			} else {
				missing++
			}
		}
	}
	for ; open > 0 && last+1 < len(t.tokens); last++ {
		open += t.bracket(last + 1)
	}
	for ; missing > 0 && first > 0; first-- {
		missing -= t.bracket(first - 1)
	}
	return first, last
}

// bracket is 1 for a token that opens, -1 for one that closes, else 0.
func (t *text) bracket(i int) int {
	switch t.tokens[i].kind {
	case pg.Token_ASCII_40, pg.Token_ASCII_91, pg.Token_CASE:
		return 1
	case pg.Token_ASCII_41, pg.Token_ASCII_93, pg.Token_END_P:
		return -1
	}
	return 0
}

// match returns the token that closes the one at i.
func (t *text) match(i int) int {
	depth := 0
	for j := i; j < len(t.tokens); j++ {
		if depth += t.bracket(j); depth == 0 {
			return j
		}
	}
	return len(t.tokens) - 1
}

// is reports whether there is a token of the kind at i.
func (t *text) is(i int, kind pg.Token) bool {
	return i >= 0 && i < len(t.tokens) && t.tokens[i].kind == kind
}

// grouped returns the bytes of one of several items, with brackets of its own around it.
func (t *text) grouped(n *node) (lo, hi int) {
	first, last := t.at(n.lo), t.ending(n.hi)
	for t.is(first-1, pg.Token_ASCII_40) && t.is(last+1, pg.Token_ASCII_41) {
		first, last = first-1, last+1
	}
	return t.tokens[first].lo, t.tokens[last].hi
}

// of is the node's text.
func (t *text) of(n *node) string { return t.sql[n.lo:n.hi] }
