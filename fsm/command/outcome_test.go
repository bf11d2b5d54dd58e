package command_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// Every call is told as one outcome.
func TestObserve(t *testing.T) {
	t.Parallel()
	pool := open(t)
	var told []command.Outcome
	c := leased()
	c.Wait = -1
	c.Observe = func(_ context.Context, o command.Outcome) { told = append(told, o) }
	quiet := leased()
	boom := errors.New("boom")
	for _, tc := range []struct {
		want command.Outcome
		call func()
	}{
		{command.Done, func() { _, _ = c.Do(t.Context(), pool, payment("k", `{}`), pay) }},
		{command.Replayed, func() { _, _ = c.Do(t.Context(), pool, payment("k", `{}`), never) }},
		{command.Mismatched, func() { _, _ = c.Do(t.Context(), pool, payment("k", `{"x":1}`), never) }},
		{command.Refused, func() { _, _ = c.Do(t.Context(), pool, payment("ink", `{}`), takeOne("ink")) }},
		{command.Failed, func() { _, _ = c.Do(t.Context(), pool, payment("failed", `{}`), never) }},
		{command.Failed, func() {
			defer func() { require.Equal(t, boom, recover(), "it goes on") }()
			_, _ = c.Do(t.Context(), pool, payment("panic", `{}`), func(context.Context, pgx.Tx) (command.Reply, error) { panic(boom) })
		}},
		{command.Failed, func() {
			defer func() { require.Equal(t, boom, recover(), "it goes on") }()
			_, _ = c.DoLeased(t.Context(), pool, payment("panic", `{}`), func(context.Context, *command.Lease) (command.Reply, error) { panic(boom) })
		}},
		{command.Invalid, func() { _, _ = c.Do(t.Context(), pool, payment("", `{}`), never) }},
		{command.Invalid, func() { _, _ = c.Do(t.Context(), pool, payment("k", `{`), never) }},
		{command.Unknown, func() { _, _ = c.Do(t.Context(), losing{pool, true}, payment("lost", `{}`), pay) }},
		{command.InProgress, func() {
			_, _ = quiet.DoLeased(t.Context(), pool, payment("busy", `{}`), func(context.Context, *command.Lease) (command.Reply, error) {
				_, _ = c.DoLeased(t.Context(), pool, payment("busy", `{}`), neverLeased)
				return command.Reply{Status: 200}, nil
			})
		}},
		{command.LeaseLost, func() {
			_, _ = c.DoLeased(t.Context(), pool, payment("late", `{}`), func(context.Context, *command.Lease) (command.Reply, error) {
				run(t, pool, `UPDATE fsm_command SET owner = 'another' WHERE key = 'late'`)
				return command.Reply{Status: 200}, nil
			})
		}},
	} {
		told = nil
		tc.call()
		require.Equal(t, []command.Outcome{tc.want}, told)
	}
	require.Len(t, command.Outcomes(), 10)
}
