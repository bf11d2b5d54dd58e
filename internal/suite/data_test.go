package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSuites measures all suites of the sample's three machines.
func BenchmarkSuites(b *testing.B) {
	for b.Loop() {
		for _, name := range []string{"order", "payment", "refund"} {
			maker := For(sample(b, name))
			for _, suite := range []string{"all-cells", "guards", "races", "0-switch", "1-switch", "n-plus", "walks", "tour"} {
				if _, err := maker.Make(suite, 0); suite != "tour" {
					require.NoError(b, err)
				}
			}
		}
	}
}

// A suite above the limit is given up, and does the next one of its maker no harm.
func TestSuitesKeepToTheirLimit(t *testing.T) {
	t.Parallel()
	maker := For(sample(t, "order"))
	for name, limits := range map[string][]int{"all-cells": {10, 95, 96, 198}, "guards": {10, 77}, "races": {10, 120}} {
		for _, limit := range limits {
			var large *LimitError
			s, err := maker.Make(name, limit)
			require.ErrorAs(t, err, &large, name)
			require.Nil(t, s)
			require.Greater(t, large.Cases, int64(limit))
		}
	}
	for name, cases := range map[string]int{"all-cells": 199, "guards": 78, "races": 121} {
		s, err := maker.Make(name, cases)
		require.NoError(t, err)
		require.Len(t, s.Cases, cases)
	}
}

// A guard that is beyond what can be decided says so, and nothing else suffers.
func TestWhatIsNotKnownIsSaid(t *testing.T) {
	t.Parallel()
	m := machine(t, `
machine: m
table: {name: ms, key: {column: id, type: uuid}, columns: {word: text, size: bigint}}
states: {A: {initial: true}, B: {}, C: {final: true}}
events: {go: {otherwise: {reject: '*'}}, end: {otherwise: {reject: '*'}}}
transitions:
  - {event: go, from: A, to: B, guard: {sql: "md5(word) = 'x' AND size > 3"}}
  - {event: end, from: B, to: C}
`)
	s := AllCells(m)
	require.Equal(t, "values are not known for which: md5(word) = 'x' AND size > 3: the value of md5(word) is not known", find(t, s, "all-cells/A/go/guard 1").why())
	require.Equal(t, "A(id='00000000-0000-4000-8000-000000000001' word='word-1' size=1)\ngo: GuardFailed A\n", show(find(t, s, "all-cells/A/go/none")))
	require.Empty(t, find(t, s, "all-cells/B/end").why())
	for i, by := range s.CoveredBy() {
		require.NotEmpty(t, by, s.Items[i].ID)
	}
}
