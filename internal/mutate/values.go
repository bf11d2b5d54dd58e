package mutate

import (
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// valueOperators break what is computed and what parameters it is computed of.
var valueOperators = []Operator{
	{Name: "arithmetic", Describe: "subtracts instead of adding, or the other way round", sites: arithmetic},
	{Name: "operand-drop", Describe: "leaves one side of a sum out", sites: dropOperand},
	{Name: "coalesce", Describe: "takes one argument of COALESCE whatever it is", sites: coalesce},
	{Name: "interval", Describe: "makes an interval one second longer", sites: interval},
	{Name: "param-other", Describe: "takes another parameter of the same type", sites: otherParam},
	{Name: "argument-drop", Describe: "leaves an argument out of a list of values", sites: dropArgument},
	{Name: "argument-swap", Describe: "swaps two values of a list", sites: swapArguments},
	{Name: "topic-drop", Describe: "leaves a topic out of what is emitted", sites: dropTopic},
	{Name: "topic-twice", Describe: "emits a topic twice", sites: twiceTopic},
}

func arithmetic(p *place, n *node, add func(...edit)) {
	other, ok := map[string]string{"+": "-", "-": "+"}[n.operator()]
	if ok && n.one("lexpr") != nil {
		token := p.tokens[p.at(n.location())]
		add(edit{token.lo, token.hi, other})
	}
}

// dropOperand leaves numbers to the operator number, which makes a zero of one.
func dropOperand(p *place, n *node, add func(...edit)) {
	if op := n.operator(); op != "+" && op != "-" {
		return
	}
	left, right := n.one("lexpr"), n.one("rexpr")
	if left == nil || right == nil {
		return
	}
	if right.one("ival") == nil {
		add(edit{n.lo, n.hi, p.of(left)})
		add(edit{n.lo, n.hi, p.of(right)})
	}
}

func coalesce(p *place, n *node, add func(...edit)) {
	if n.kind == "CoalesceExpr" {
		for _, a := range n.all("args") {
			add(edit{n.lo, n.hi, p.of(a)})
		}
	}
}

// isInterval reports whether a constant is one's text.
func (p *place) isInterval(n *node) bool {
	cast := n.parent
	if cast == nil || cast.kind != "TypeCast" || cast.one("type_name") == nil {
		return false
	}
	names := cast.one("type_name").names("names")
	return len(names) > 0 && names[len(names)-1] == "interval"
}

func interval(p *place, n *node, add func(...edit)) {
	if s, ok := n.constant(); ok && p.isInterval(n) {
		add(edit{n.lo, n.hi, quote(s + " 1 second")})
	}
}

func otherParam(p *place, n *node, add func(...edit)) {
	if !n.param() || n.parent != nil && n.parent.param() {
		return
	}
	name := p.of(n)
	_, typ, _ := strings.Cut(name, "::")
	same := slices.DeleteFunc(slices.Clone(p.words.params), func(s string) bool { return !strings.HasSuffix(s, "::"+typ) })
	for i := range same {
		// A parameter can be written in two ways.
		if next := same[(i+1)%len(same)]; same[i] == name && bareName(next) != bareName(name) {
			add(edit{n.lo, n.hi, next})
		} else if next := same[(i+2)%len(same)]; same[i] == name && bareName(next) != bareName(name) {
			add(edit{n.lo, n.hi, next})
		}
	}
}

var bare = regexp.MustCompile(`\w+`)

// bareName is a parameter's own name, however it is written.
func bareName(param string) string {
	names := bare.FindAllString(param, 3)
	if strings.HasPrefix(param, "@") {
		return names[0]
	}
	return names[2] // sqlc, arg, and the name
}

// built reports whether a call makes a value of a list of values, and of how
// many arguments an item of the list is.
func built(n *node) int {
	if n.kind != "FuncCall" {
		return 0
	}
	switch f := n.names("funcname"); f[len(f)-1] {
	case "jsonb_build_object":
		return 2
	case "jsonb_build_array", "concat":
		return 1
	}
	return 0
}

func dropArgument(p *place, n *node, add func(...edit)) {
	size, args := built(n), n.all("args")
	if size == 0 {
		return
	}
	for i := 0; i+size <= len(args); i += size {
		last := args[i+size-1]
		switch {
		case len(args) == size:
			add(edit{args[i].lo, last.hi, ""})
		case i == 0:
			add(edit{args[0].lo, args[size].lo, ""})
		default:
			add(edit{args[i-1].hi, last.hi, ""})
		}
	}
}

func swapArguments(p *place, n *node, add func(...edit)) {
	size, args := built(n), n.all("args")
	if size == 0 {
		return
	}
	for i := 2*size - 1; i < len(args); i += size {
		add(p.swap(args[i-size], args[i])...)
	}
}

// topic reports whether a value is the one topic of a row that is emitted: that of
// a sub-select which is joined as e(topic).
func (n *node) topic() bool {
	of := n.above("RangeSubselect")
	return n.kind == "ResTarget" && of != nil && of.one("alias") != nil && slices.Equal(of.one("alias").names("colnames"), []string{"topic"})
}

func dropTopic(p *place, n *node, add func(...edit)) {
	switch {
	case n.topic():
		add(edit{n.hi, n.hi, " WHERE false"})
	case n.kind == "CaseWhen" && n.above("ResTarget") != nil && n.above("ResTarget").topic() && len(n.parent.all("args")) > 1:
		add(edit{n.lo, n.hi, ""})
	case n.kind == "A_ArrayExpr":
		list := n.all("elements")
		if len(list) == 1 {
			add(edit{n.lo, n.hi, "ARRAY[]::text[]"})
			return
		}
		for i := range list {
			add(without(list, i))
		}
	}
}

func twiceTopic(p *place, n *node, add func(...edit)) {
	switch {
	case n.topic():
		add(edit{n.hi, n.hi, " UNION ALL SELECT " + p.of(n)})
	case n.kind == "A_ArrayExpr":
		for _, e := range n.all("elements") {
			add(edit{e.hi, e.hi, ", " + p.of(e)})
		}
	}
}

// behind returns the first token of a kind from a byte on, -1 for none before the byte until.
func (t *text) behind(lo, until int, kind pg.Token) int {
	for i := t.at(lo); i >= 0 && i < len(t.tokens) && t.tokens[i].lo < until; i++ {
		if t.tokens[i].kind == kind {
			return i
		}
	}
	return -1
}
