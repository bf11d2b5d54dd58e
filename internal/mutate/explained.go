package mutate

import (
	"regexp"
	"strings"
	"sync"
)

// Explanation says of some mutants why no test can notice them.
type Explanation struct {
	// Operator, Source, Line, Before and After are regular expressions: of the
	// operator's whole name, of the name of the statement or migration, of the line
	// on which the change begins, and of the change. Empty ones match everything.
	Operator, Source, Line, Before, After string
	// Change is one of the whole change, as "Before → After", and From is one of the
	// line from where the change begins: what tells equal changes of a line apart.
	Change, From string
	// Why is for people.
	Why string
}

// Explanations returns what cannot be noticed, in order: of a mutant that
// several match, the first one tells why.
func Explanations() []Explanation { return explanations }

type compiled struct{ operator, source, line, before, after, change, from *regexp.Regexp }

var compile = sync.OnceValue(func() []compiled {
	out := make([]compiled, len(explanations))
	for i, e := range explanations {
		out[i] = compiled{
			regexp.MustCompile("^(" + e.Operator + ")$"), regexp.MustCompile(e.Source), regexp.MustCompile(e.Line),
			regexp.MustCompile(e.Before), regexp.MustCompile(e.After), regexp.MustCompile(e.Change), regexp.MustCompile(e.From),
		}
	}
	return out
})

// Explained returns the index of the explanation that matches the mutant, -1 for none.
func Explained(m *Mutant) int {
	line := strings.Split(m.Source.Text, "\n")[m.Line-m.Source.Line]
	from := line[min(max(m.Column-1, 0), len(line)):] // all of it for a mutant without a column
	for i, c := range compile() {
		if c.operator.MatchString(m.Operator) && c.source.MatchString(m.Source.Name) && c.line.MatchString(line) &&
			c.before.MatchString(m.Before) && c.after.MatchString(m.After) && c.change.MatchString(m.Before+" → "+m.After) && c.from.MatchString(from) {
			return i
		}
	}
	return -1
}
