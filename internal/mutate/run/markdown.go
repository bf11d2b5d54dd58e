package main

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/mutate"
)

const introduction = `# What the generated tests notice

Every generated statement and migration is broken on purpose, in every way that a renderer could be wrong, one small
change at a time; the generated tests run against each change. A change that they do not notice shows a hole in them.
This page is written by ` + "`make mutate`" + `.

*Killed*: at least one generated test failed. *Stillborn*: PostgreSQL does not take the text at all, so nobody could run
it. *Explained*: no test can notice the change, and further down is why; an explanation that no longer holds fails the
run. *Survived*: a hole.
`

// markdown is the report for people. It says nothing of time or place, so that
// two runs write the same.
func (r *report) markdown() ([]byte, error) {
	var b strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	p("%s", introduction)
	if !r.whole {
		p("This is a part of the whole: %s.\n", r.part)
	}
	seen := r.all.killed + r.all.late
	p("**%d of %d** changes that PostgreSQL takes and that can be noticed were noticed.\n", seen, seen+r.all.unknown)
	table(p, "statement or migration", r.sources, func(t *tally) string { return "`" + t.name + "`" })
	p("")
	describe := map[string]string{}
	for _, op := range mutate.Operators() {
		describe[op.Name] = op.Describe
	}
	table(p, "the change", r.operators, func(t *tally) string { return "`" + t.name + "` " + describe[t.name] })
	r.markdownExplained(p)
	r.markdownSurvived(p)
	r.markdownTests(p)
	return []byte(b.String()), nil
}

func table(p func(string, ...any), what string, rows []*tally, name func(*tally) string) {
	p("| %s | changes | killed | timed out | stillborn | explained | survived |", what)
	p("| --- | --: | --: | --: | --: | --: | --: |")
	for _, t := range rows {
		if t.mutants > 0 {
			p("| %s | %d | %d | %d | %d | %d | %d |", name(t), t.mutants, t.killed, t.late, t.stillborn, t.known, t.unknown)
		}
	}
}

func (r *report) markdownExplained(p func(string, ...any)) {
	p("\n## Explained\n")
	for i, e := range mutate.Explanations() {
		if r.explained[i] == 0 {
			continue
		}
		p("- `%s`, %d times: %s.", e.Operator, r.explained[i], e.Why)
		for _, x := range r.results {
			if x.fate == survived && x.why == i {
				p("  For one, %s.", change(x))
				break
			}
		}
	}
}

func (r *report) markdownSurvived(p func(string, ...any)) {
	if r.all.unknown == 0 {
		return
	}
	p("\n## Survived\n")
	for _, x := range r.results {
		if x.fate == survived && x.why < 0 {
			p("- `%s`: %s", x.Operator, change(x))
		}
	}
}

// markdownTests says which tests noticed the changes of each text: of several
// that noticed one, the first by name.
func (r *report) markdownTests(p func(string, ...any)) {
	p("\n## Which test noticed\n")
	p("Of all tests that noticed a change, the first by name is counted.\n")
	p("| statement or migration | test | changes |")
	p("| --- | --- | --: |")
	for _, source := range r.sources {
		count := map[string]int{}
		var order []string
		for _, x := range r.results {
			if x.Source.Name == source.name && x.fate == killed {
				if count[x.by] == 0 {
					order = append(order, x.by)
				}
				count[x.by]++
			}
		}
		for _, test := range order {
			p("| `%s` | `%s` | %d |", source.name, test, count[test])
		}
	}
}

// change is a mutant's change, with its place.
func change(x result) string {
	return fmt.Sprintf("%s:%d: %s → %s", x.Source.File, x.Line, code(x.Before), code(x.After))
}

func code(s string) string {
	if s == "" {
		return "nothing"
	}
	return "`" + strings.ReplaceAll(mutate.Shown(s), "|", "\\|") + "`"
}
