package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/pawl-go/pawl/internal/mutate"
)

func (s *settings) wants(m *mutate.Mutant, statement *regexp.Regexp) bool {
	return (s.machine == "" || s.machine == m.Source.Machine) &&
		(s.operator == "" || s.operator == m.Operator) &&
		statement.MatchString(m.Source.Name)
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
