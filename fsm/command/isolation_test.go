package command_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// In a database whose default is another level than READ COMMITTED, a call that finds
// the key taken while it takes it cannot see by whom: the statement fails and runs
// again. (The sender got a serialization failure.)
func TestDefaultIsolation(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*testing.T, *pgxpool.Pool) (command.Answer, error){
		"in the transaction": func(t *testing.T, pool *pgxpool.Pool) (command.Answer, error) {
			c := leased()
			return c.Do(t.Context(), pool, payment("k", `{}`), never)
		},
		"leased": func(t *testing.T, pool *pgxpool.Pool) (command.Answer, error) {
			c := leased()
			return c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
		},
	} {
		for _, level := range []string{"repeatable read", "serializable"} {
			t.Run(name+", "+level, func(t *testing.T) {
				t.Parallel()
				pool := open(t)
				strict := pool.Config()
				strict.ConnConfig.RuntimeParams["default_transaction_isolation"] = level
				other, err := pgxpool.NewWithConfig(t.Context(), strict)
				require.NoError(t, err)
				t.Cleanup(other.Close)

				winner, err := pool.Begin(t.Context())
				require.NoError(t, err)
				c := leased()
				_, err = c.DoTx(t.Context(), winner, payment("k", `{}`), pay)
				require.NoError(t, err)
				second := start(func() (command.Answer, error) { return call(t, other) })
				waitUntil(t, pool, waiting, 1)
				require.NoError(t, winner.Commit(t.Context()))
				got := await(t, second)
				require.NoError(t, got.err)
				require.True(t, got.Replayed)
				require.Equal(t, 201, got.Status)
			})
		}
	}
}
