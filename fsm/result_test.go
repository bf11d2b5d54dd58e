package fsm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultErr(t *testing.T) {
	t.Parallel()
	guards := []Guard{{Name: "amount_matches", Describe: "the amount paid is the amount due"}, {Describe: "stock > 0"}}
	for _, c := range []struct {
		outcome Outcome
		text    string // empty for success
	}{
		{Applied, ""},
		{Replayed, ""},
		{Ignored, ""},
		{Compensated, ""},
		{Rejected, "order pay: Rejected in state PAID at version 2"},
		{GuardFailed, "order pay: GuardFailed in state PAID at version 2, tried [amount_matches stock > 0]"},
		{Stale, "order pay: Stale in state PAID at version 2"},
		{Mismatched, "order pay: Mismatched in state PAID at version 2"},
		{"", "order pay:  in state PAID at version 2"},
	} {
		r := Result[state, row]{Outcome: c.outcome, State: "PAID", Version: 2, Row: row{"secret"}, Machine: "order", Event: "pay"}
		if c.outcome == GuardFailed {
			r.Guards = guards
		}
		require.Equal(t, c.text == "", c.outcome.OK(), c.outcome)
		if c.text == "" {
			require.NoError(t, r.Err(), c.outcome)
			continue
		}
		require.EqualError(t, r.Err(), c.text)
		var refused *RefusedError
		require.ErrorAs(t, r.Err(), &refused)
		require.Equal(t, RefusedError{"order", "pay", c.outcome, "PAID", 2, r.Guards}, *refused)
	}
}

func TestOutcomesAreInOrderOfJudgement(t *testing.T) {
	t.Parallel()
	require.Equal(t, []Outcome{
		"Replayed", "Mismatched", // known identity
		"Ignored", "Rejected", // cell
		"GuardFailed",
		"Stale",
		"Compensated", "Applied", // writes
	}, Outcomes())
	Outcomes()[0] = "changed"
	require.Equal(t, Replayed, Outcomes()[0], "the slice is the caller's own")
}
