package sqlexpr

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// call judges the call of a function.
func (t *typer) call(f *pg.FuncCall) typed {
	name := functionName(f)
	at := t.offset(f.GetLocation())
	if t.tokenAt(at) < 0 {
		at = 0
	}
	if name == "now" {
		return typed{typ: "timestamptz", at: at, words: "now()"}
	}
	args := t.values(f.GetArgs())
	given, names := make([]string, len(args)), make([]string, len(args))
	for i, v := range args {
		if !v.known() {
			return typed{at: at}
		}
		given[i], names[i] = v.typ, f.GetArgs()[i].GetNamedArgExpr().GetName()
	}
	s := t.catalog.function(name, given, names, !f.GetFuncVariadic())
	if s == nil {
		t.add(at, Mismatch, name, "function %s cannot take %s%s", name, listed(args), t.fitting(t.catalog.functions[name], 0, args))
		return typed{at: at}
	}
	b, _ := t.catalog.binding(s.args, given)
	for i, v := range args {
		to := b.stands(s.args[i])
		if to == "" {
			t.add(v.at, Mismatch, name, "%s does not tell function %s of which type it is; cast it, as in 'x'::text", v.words, name)
			return typed{at: at}
		}
		t.literal(v, to)
	}
	t.arguments(name, at, s, args, f.GetFuncVariadic())
	return typed{typ: b.stands(s.result), at: at, words: "the value of " + name, collation: t.oneCollation(args)}
}

// arguments judges constants that only certain functions refuse.
func (t *typer) arguments(name string, at int, s *signature, args []typed, array bool) {
	switch name {
	case "extract", "date_part", "date_trunc":
		t.unit(name, args[0], s.args[1])
	case "regexp_replace", "regexp_like":
		if args[1].text != nil {
			t.pattern(args[1])
		}
	case "substring":
		if len(args) == 2 && s.args[1] == "text" && args[1].text != nil {
			t.pattern(args[1])
		}
	case "div", "mod":
		if zero(args[1]) {
			t.add(at, Unreadable, name, "this divides by zero, which is an error on every call; divide by another value, or by nullif(…, 0)")
		}
	case "jsonb_build_object":
		if len(args)%2 != 0 && !array {
			t.add(at, Mismatch, name, "jsonb_build_object takes keys and values in turn, and %d arguments leave a key without a value", len(args))
		}
	}
}

func listed(args []typed) string {
	if len(args) == 0 {
		return "no argument"
	}
	words := make([]string, len(args))
	for i, v := range args {
		words[i] = v.words
	}
	return strings.Join(words, ", ")
}

// mostShown is how many signatures a message names.
const mostShown = 4

// fitting says which types would fit: of operators between two values those
// that one of them has, when there are any. n is the number of arguments, 0 for
// any.
func (t *typer) fitting(all []signature, n int, given []typed) string {
	var near, shown []string
	for _, s := range all {
		if n > 0 && len(s.args) != n || slices.ContainsFunc(s.args, unspoken) {
			continue
		}
		words := make([]string, len(s.args))
		shares := false
		for i, a := range s.args {
			words[i] = spokenArgument(a)
			shares = shares || i < len(given) && n == 2 && given[i].typ == a
		}
		text := "(" + strings.Join(words, ", ") + ")"
		if n == 2 {
			text = strings.Join(words, " and ")
		}
		if shown = append(shown, text); shares {
			near = append(near, text)
		}
	}
	if len(near) > 0 {
		shown = near
	}
	if shown = slices.Compact(shown); len(shown) == 0 {
		return "; cast one of them"
	}
	more := ""
	if len(shown) > mostShown {
		shown, more = shown[:mostShown], " and more"
	}
	return "; it takes " + strings.Join(shown, " or ") + more
}

// unspoken are types that no definition has values of.
func unspoken(t string) bool {
	if e := element(t); e != "" {
		return unspoken(e)
	}
	_, known := casts[t]
	return !known && t != "any" && t != "anyelement" && t != "anyarray" && t != "anycompatible" && t != "anycompatiblearray"
}

func spokenArgument(t string) string {
	switch t {
	case "any", "anyelement", "anycompatible":
		return "any value"
	case "anyarray", "anycompatiblearray":
		return "an array"
	}
	return spoken(t)
}
