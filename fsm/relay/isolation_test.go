package relay_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// A server's default may be stricter than READ COMMITTED: a person's word that
// waits for another transaction's change of the hold is heard there too.
func TestRetryAtAStricterDefault(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: &broker{judge: refuse("a")}}))
	config := pool.Config()
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
	strict, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(strict.Close)

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	execute(t, tx, `UPDATE fsm_outbox_holds SET tries = 7`)
	told := make(chan error, 1)
	go func() { told <- relay.Retry(t.Context(), strict, "order", "a") }()
	until(t, pool, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, receive(t, told))
	var tries int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT tries FROM fsm_outbox_holds`).Scan(&tries))
	require.Zero(t, tries)
}
