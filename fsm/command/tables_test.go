package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/migrations"
)

// The migration goes back, and forth again.
func TestTablesGoAndComeBack(t *testing.T) {
	t.Parallel()
	pool := open(t)
	text, err := migrations.FS.ReadFile("00006_fsm_command.sql")
	require.NoError(t, err)
	up, down, ok := strings.Cut(string(text), "-- +goose Down")
	require.True(t, ok)
	c := command.Command{Name: "pay"}
	for range 2 {
		run(t, pool, down)
		_, err = c.Do(t.Context(), pool, payment("k", `{}`), pay)
		require.ErrorIs(t, err, command.ErrTables)
		run(t, pool, up)
		_, err = c.Do(t.Context(), pool, payment("k", `{}`), pay)
		require.NoError(t, err)
	}
}
