package main

import (
	"fmt"
	"io"

	"github.com/pawl-go/pawl/internal/mutate"
)

// tally counts fates.
type tally struct {
	name                                             string
	mutants, killed, stillborn, late, known, unknown int
}

func (t *tally) add(r result) {
	t.mutants++
	switch {
	case r.fate == killed:
		t.killed++
	case r.fate == stillborn:
		t.stillborn++
	case r.fate == timedOut:
		t.late++
	case r.why >= 0:
		t.known++
	default:
		t.unknown++
	}
}

// report is what a run found.
type report struct {
	results []result
	all     tally
	// operators and sources are in the order of the operators and of the texts.
	operators, sources []*tally
	// explained counts the survivors of each explanation; broken are the mutants
	// that have one and were noticed.
	explained []int
	broken    []result
	// whole says that no mutant was left out; if not, part says which were taken.
	whole bool
	part  string
}

func newReport(results []result) *report {
	r := &report{results: results, explained: make([]int, len(mutate.Explanations()))}
	byOperator, bySource := map[string]*tally{}, map[string]*tally{}
	for _, op := range mutate.Operators() {
		t := &tally{name: op.Name}
		byOperator[op.Name] = t
		r.operators = append(r.operators, t)
	}
	for _, x := range results {
		of := bySource[x.Source.Name]
		if of == nil {
			of = &tally{name: x.Source.Name}
			bySource[x.Source.Name] = of
			r.sources = append(r.sources, of)
		}
		for _, t := range []*tally{&r.all, byOperator[x.Operator], of} {
			t.add(x)
		}
		switch why := mutate.Explained(x.Mutant); {
		case why < 0:
		case x.fate == survived:
			r.explained[why]++
		case x.fate == killed || x.fate == timedOut:
			r.broken = append(r.broken, x)
		}
	}
	return r
}

// unused returns the explanations that no survivor needs. Only of a whole run can that be said.
func (r *report) unused() []mutate.Explanation {
	var out []mutate.Explanation
	for i, n := range r.explained {
		if r.whole && n == 0 {
			out = append(out, mutate.Explanations()[i])
		}
	}
	return out
}

// print writes the summary and returns the exit code.
func (r *report) print(out io.Writer) int {
	t := r.all
	_, _ = fmt.Fprintf(out, "%d mutants: %d killed, %d timed out, %d stillborn, %d survived and explained, %d survived\n",
		t.mutants, t.killed, t.late, t.stillborn, t.known, t.unknown)
	for _, x := range r.broken {
		_, _ = fmt.Fprintf(out, "explained as one that cannot be noticed, and %s by %s: %s\n", x.fate, x.by, x.Mutant)
	}
	unused := r.unused()
	for _, e := range unused {
		_, _ = fmt.Fprintf(out, "no survivor needs the explanation of %s %s: %s\n", e.Operator, e.Source, e.Why)
	}
	if t.unknown+len(r.broken)+len(unused) > 0 {
		return exitSurvived
	}
	return 0
}
