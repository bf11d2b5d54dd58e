package logic

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// pattern is a text variable that is matched with a constant pattern. As a
// condition it is opaque; it is understood once the variable has a value.
type pattern struct {
	variable int
	like     bool // LIKE, else a regular expression
	text     string
}

// pattern notes what an opaque condition matches.
func (r *reader) pattern(op string, left, right *pg.Node, place int) {
	if op != "~~" && op != "~" || !isText(right) {
		return
	}
	if v := r.term(left); v.form == variable && v.kind == Text && v.id < r.analysis.given {
		r.patterns[place] = pattern{variable: v.id, like: op == "~~", text: right.GetAConst().GetSval().GetSval()}
	}
}

// shared are the regular expressions that PostgreSQL and Go read alike: letters
// and figures, classes of them, groups, choices, repetitions and anchors.
var shared = regexp.MustCompile(`^(\\[dw.+*?()|$^-]|[A-Za-z0-9 _@:/#,=.+*?()|{}$^-]|\[\^?[A-Za-z0-9 _@.:/+-]+\])*$`)

// expression returns the pattern as a regular expression of Go; nil for one that
// is not certain to mean the same there.
func (p pattern) expression() *syntax.Regexp {
	text := p.text
	if p.like {
		if strings.Contains(text, `\`) {
			return nil
		}
		text = "^" + strings.NewReplacer("%", "(?s:.*)", "_", "(?s:.)").Replace(regexp.QuoteMeta(text)) + "$"
	} else if !shared.MatchString(text) {
		return nil
	}
	out, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	return out
}

// matches reports whether a text matches, and whether that is known.
func (p pattern) matches(text string) (matches, known bool) {
	e := p.expression()
	if e == nil {
		return false, false
	}
	compiled, err := regexp.Compile(e.String())
	return err == nil && compiled.MatchString(text), err == nil
}

// texts are a few that a variable may be tried with: one that matches each of
// its patterns, and a plain one.
func (a *analysis) texts(place int) []string {
	var out []string
	for at := range a.slots {
		p, is := a.patterns[at]
		if !is || p.variable != place {
			continue
		}
		if e := p.expression(); e != nil {
			if text, ok := sampleOf(e); ok && len(text) <= longest {
				out = append(out, text)
			}
		}
	}
	return append(out, "a")
}

// matched returns the first variable with a pattern and without a value, or -1.
func (a *analysis) matchedVariable() int {
	first := -1
	for at := range a.slots {
		if p, is := a.patterns[at]; is && len(a.slots[p.variable].Among) != 1 && (first < 0 || p.variable < first) {
			first = p.variable
		}
	}
	return first
}

// sampleOf makes a short text that an expression matches.
func sampleOf(e *syntax.Regexp) (string, bool) {
	var out strings.Builder
	each := func(times int, subs ...*syntax.Regexp) bool {
		for range times {
			for _, sub := range subs {
				text, ok := sampleOf(sub)
				if !ok || out.Len() > longest {
					return false
				}
				out.WriteString(text)
			}
		}
		return true
	}
	ok := true
	switch e.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpStar, syntax.OpQuest:
	case syntax.OpLiteral:
		out.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		out.WriteRune(oneOfClass(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		ok = each(1, e.Sub[0])
	case syntax.OpRepeat:
		ok = each(e.Min, e.Sub[0])
	case syntax.OpConcat:
		ok = each(1, e.Sub...)
	case syntax.OpAlternate:
		ok = each(1, e.Sub[0])
	default:
		ok = false
	}
	return out.String(), ok
}

// oneOfClass returns a plain character of a class of ranges.
func oneOfClass(ranges []rune) rune {
	for _, plain := range "Aa1" {
		for pair := range slices.Chunk(ranges, 2) {
			if pair[0] <= plain && plain <= pair[1] {
				return plain
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

func truthOf(is bool) *cond {
	if is {
		return known(isTrue)
	}
	return known(isFalse)
}
