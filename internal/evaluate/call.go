package evaluate

import (
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// call reads the call of a function.
func (r *reader) call(f *pg.FuncCall) (term, error) {
	names := f.GetFuncname()
	name := names[len(names)-1].GetString_().GetSval()
	if name == "now" && len(f.GetArgs()) == 0 {
		return term{kind: moments, eval: func(s *scope) (any, error) { return s.Now.UTC().Round(time.Microsecond), nil }}, nil
	}
	args, err := r.all(f.GetArgs())
	if err != nil {
		return term{}, err
	}
	switch {
	case len(args) == 1:
		if t, ok, err := call1(name, args[0]); ok || err != nil {
			return t, err
		}
	case len(args) == 2 && name == "mod":
		return binary("%", args[0], args[1])
	}
	return term{}, unsupported("function %s", name)
}

// call1 is a function of one argument; ok is false for one that is not known.
func call1(name string, arg term) (t term, ok bool, err error) {
	k := arg.kind
	if k == unknown {
		k = texts
	}
	switch {
	case name == "abs" && k.integer():
		return strict1(k, func(v any) (any, error) { return boundedBig(k, new(big.Int).Abs(big.NewInt(v.(int64)))) }, arg), true, nil
	case name == "abs" && k == numerics:
		return strict1(k, func(v any) (any, error) { return new(big.Rat).Abs(v.(*big.Rat)), nil }, arg), true, nil
	case (name == "ceil" || name == "ceiling" || name == "floor" || name == "round" || name == "trunc" || name == "sign") && k == numerics:
		return strict1(k, func(v any) (any, error) { return whole(name, v.(*big.Rat)), nil }, arg), true, nil
	}
	if k != texts {
		return t, false, nil
	}
	if arg, err = arg.as(texts); err != nil {
		return t, false, err
	}
	switch name {
	case "length", "char_length", "character_length":
		return strict1(int4s, func(v any) (any, error) { return int64(utf8.RuneCountInString(v.(string))), nil }, arg), true, nil
	case "octet_length":
		return strict1(int4s, func(v any) (any, error) { return int64(len(v.(string))), nil }, arg), true, nil
	case "btrim":
		return strict1(texts, func(v any) (any, error) { return strings.Trim(v.(string), " "), nil }, arg), true, nil
	case "ltrim":
		return strict1(texts, func(v any) (any, error) { return strings.TrimLeft(v.(string), " "), nil }, arg), true, nil
	case "rtrim":
		return strict1(texts, func(v any) (any, error) { return strings.TrimRight(v.(string), " "), nil }, arg), true, nil
	case "lower":
		return strict1(texts, letters(strings.ToLower), arg), true, nil
	case "upper":
		return strict1(texts, letters(strings.ToUpper), arg), true, nil
	}
	return t, false, nil
}

// letters is for what a collation does alike everywhere to ASCII, and only there.
func letters(f func(string) string) func(any) (any, error) {
	return func(v any) (any, error) {
		for _, r := range v.(string) {
			if r >= utf8.RuneSelf {
				return nil, unsupported("the letter case of %q", r)
			}
		}
		return f(v.(string)), nil
	}
}

// whole is a function that makes a number a whole one.
func whole(name string, r *big.Rat) *big.Rat {
	switch name {
	case "round":
		return rounded(r, 0)
	case "sign":
		return new(big.Rat).SetInt64(int64(r.Sign()))
	}
	quotient := new(big.Int).Quo(r.Num(), r.Denom()) // towards zero
	switch {
	case r.IsInt():
	case name == "floor" && r.Sign() < 0:
		quotient.Sub(quotient, big.NewInt(1))
	case (name == "ceil" || name == "ceiling") && r.Sign() > 0:
		quotient.Add(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetInt(quotient)
}

// like reports whether a text matches a pattern of LIKE.
func like(text, pattern string) (bool, error) {
	t, p := []rune(text), []rune(pattern)
	// reached has the lengths of the beginnings of text that the pattern so far takes.
	reached := make([]bool, len(t)+1)
	reached[0] = true
	for i := 0; i < len(p); i++ {
		next := make([]bool, len(t)+1)
		switch c := p[i]; c {
		case '%':
			any := false
			for n := range reached {
				any = any || reached[n]
				next[n] = any
			}
		default:
			if c == '\\' {
				if i++; i == len(p) {
					return false, unsupported("a pattern of LIKE that ends in a backslash") // an error where the match comes to it
				}
			}
			for n := range t {
				next[n+1] = reached[n] && (c == '_' || t[n] == p[i])
			}
		}
		reached = next
	}
	return reached[len(t)], nil
}
