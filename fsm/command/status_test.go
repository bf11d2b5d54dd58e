package command_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	status := func(key string) command.Status {
		t.Helper()
		s, err := c.Status(t.Context(), pool, "acme", key)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, command.Status{Progress: command.NotKnown}, status("k"))

	_, err := c.Do(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		s := status("k")
		require.Equal(t, command.Working, s.Progress)
		require.False(t, s.Since.IsZero())
		require.Zero(t, s.Lease)
		return command.Reply{}, errors.New("boom")
	})
	require.Error(t, err)
	require.Equal(t, command.Idle, status("k").Progress, "nobody is at work after a failure")

	done, err := c.Do(t.Context(), pool, payment("k", `{}`), pay)
	require.NoError(t, err)
	s := status("k")
	require.Equal(t, command.Finished, s.Progress)
	require.Equal(t, 201, s.Reply.Status)
	require.JSONEq(t, `{"paid":100}`, string(s.Reply.Body))
	require.True(t, s.Reply.At.Equal(done.At))

	_, err = c.DoLeased(t.Context(), pool, payment("leased", `{}`), func(_ context.Context, l *command.Lease) (command.Reply, error) {
		s := status("leased")
		require.Equal(t, command.Working, s.Progress)
		require.Greater(t, s.Lease, 30*time.Second)
		require.Equal(t, l.Fence(), s.Fence)
		runOut(t, pool)
		require.Equal(t, command.Idle, status("leased").Progress, "the next call may take it over")
		return command.Reply{Status: 204}, nil
	})
	require.NoError(t, err)
	require.Equal(t, 204, status("leased").Reply.Status)

	s, err = c.Status(t.Context(), pool, "globex", "k")
	require.NoError(t, err)
	require.Equal(t, command.NotKnown, s.Progress, "another tenant's")
	_, err = c.Status(t.Context(), pool, "", "k")
	require.ErrorIs(t, err, fsm.ErrArgument)
}
