package mutate

import (
	"regexp"
	"sync"
)

// Explanation says of some mutants why no test can notice them.
type Explanation struct {
	// Operator is the operator's name; Source, Before and After are regular
	// expressions that a mutant's source, and its change, match. Empty ones match
	// everything.
	Operator, Source, Before, After string
	// Why is for people.
	Why string
}

// Explanations returns what cannot be noticed, in order: of a mutant that
// several match, the first one tells why.
func Explanations() []Explanation { return explanations }

var explanations = []Explanation{
	{Operator: "materialized-drop", Why: "what is read or locked by the part is the same whether it is kept or folded in: a part that locks is never folded in, and the facts are read by the snapshot of the statement either way"},
}

type compiled struct{ source, before, after *regexp.Regexp }

var compile = sync.OnceValue(func() []compiled {
	out := make([]compiled, len(explanations))
	for i, e := range explanations {
		out[i] = compiled{regexp.MustCompile(e.Source), regexp.MustCompile(e.Before), regexp.MustCompile(e.After)}
	}
	return out
})

// Explained returns the index of the explanation that matches the mutant, -1 for none.
func Explained(m *Mutant) int {
	for i, c := range compile() {
		if explanations[i].Operator == m.Operator && c.source.MatchString(m.Source.Name) && c.before.MatchString(m.Before) && c.after.MatchString(m.After) {
			return i
		}
	}
	return -1
}
