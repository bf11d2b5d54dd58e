package inbox_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/inbox"
)

// Behind a pooler pgx sends arguments without knowing the columns' types: a delivery
// is stored with its headers all the same.
func TestModesOfPgx(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *inbox.Config) {
				config := c.Pool.(*pgxpool.Pool).Config()
				config.ConnConfig.DefaultQueryExecMode = mode
				pool, err := pgxpool.NewWithConfig(t.Context(), config)
				require.NoError(t, err)
				t.Cleanup(pool.Close)
				c.Pool = pool
			}).withOrder()
			n := told("evt_1", "paid", "p1", total)
			require.Equal(t, inbox.VerdictDone, b.deliver(n).Verdict)
			require.Equal(t, inbox.VerdictDuplicate, b.deliver(n).Verdict)
			require.Equal(t, 422, b.post("stripe", "POST", "application/json", b.signed([]byte("x")), []byte("x")).Code) // unreadable
		})
	}
}
