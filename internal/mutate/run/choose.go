package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/mutate"
)

// wants reports whether the flags ask for a mutant; without is nil where no
// statement is left out.
func (s *settings) wants(m *mutate.Mutant, statement, without *regexp.Regexp) bool {
	return (s.machine == "" || s.machine == m.Source.Machine) &&
		(s.operator == "" || s.operator == m.Operator) &&
		statement.MatchString(m.Source.Name) && (without == nil || !without.MatchString(m.Source.Name))
}

// share returns the shard, and then the sample, in the order of the mutants.
func (s *settings) share(mutants []*mutate.Mutant) ([]*mutate.Mutant, error) {
	if s.shard != "" {
		var i, n int
		if _, err := fmt.Sscanf(s.shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
			return nil, fmt.Errorf("there is no shard %q", s.shard)
		}
		var own []*mutate.Mutant
		for j := i - 1; j < len(mutants); j += n {
			own = append(own, mutants[j])
		}
		mutants = own
	}
	if s.sample <= 0 || s.sample >= len(mutants) {
		return mutants, nil
	}
	drawn := rand.New(rand.NewPCG(s.seed, 0)).Perm(len(mutants))[:s.sample]
	slices.Sort(drawn)
	out := make([]*mutate.Mutant, len(drawn))
	for i, at := range drawn {
		out[i] = mutants[at]
	}
	return out, nil
}

// distinct leaves out a mutant whose lines, with the event's name taken out, are
// changed in the same way in a statement of the machine before: one piece of the
// renderer wrote them.
func distinct(mutants []*mutate.Mutant) []*mutate.Mutant {
	seen := map[string]bool{}
	var out []*mutate.Mutant
	for _, m := range mutants {
		key := changedLines(m)
		if !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out
}

// changedLines are the lines that a mutant changes, as they were and as they are,
// with the machine before them.
func changedLines(m *mutate.Mutant) string {
	before, after := strings.Split(m.Source.Text, "\n"), strings.Split(m.Text, "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	key := strings.Join(before, "\n") + "\x00" + strings.Join(after, "\n")
	if m.Source.Event != "" {
		key = regexp.MustCompile(`\b`+regexp.QuoteMeta(m.Source.Event)+`\b`).ReplaceAllString(key, "\x01")
	}
	return m.Source.Machine + "\x00" + key
}

// believed says of each mutant which explanation is believed of it without a
// test, -1 for none.
func (s *settings) believed(mutants []*mutate.Mutant) []int {
	tested := map[int]int{}
	out := make([]int, len(mutants))
	for i, m := range mutants {
		out[i] = -1
		if why := mutate.Explained(m); s.explained > 0 && why >= 0 {
			if tested[why]++; tested[why] > s.explained {
				out[i] = why
			}
		}
	}
	return out
}
