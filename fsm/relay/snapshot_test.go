package relay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// gate has a role read the outbox through a policy that waits for an advisory
// lock: a statement of that role can be stopped between its snapshot and its
// locks. The role is in every database; superusers pass policies by.
const gate = `
CREATE FUNCTION gate() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7);
  RETURN true;
END $$;
GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor;
ALTER TABLE fsm_outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY gated ON fsm_outbox USING (gate());`

// gated is a pool whose sessions are of that role, in the same database.
func gated(t *testing.T, pool *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	execute(t, pool, gate)
	config := pool.Config().Copy()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET ROLE pg_monitor")
		return err
	}
	other, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(other.Close)
	return other
}

// A relay looks for rows, and before it locks them another one has delivered the
// first of a key, or has held the key up: it passes over both, though its snapshot
// has them as they were.
func TestASnapshotFromBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first relay.Publisher
		left  int
	}{
		{"delivered", &broker{}, 0},
		{"held up", refusing{}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pool := emitted(t, 2, "a")
			late := gated(t, pool)
			shut, err := pool.Begin(t.Context())
			require.NoError(t, err)
			execute(t, shut, `SELECT pg_advisory_xact_lock(7)`)

			b := &broker{}
			done := make(chan error, 1)
			go func() {
				_, err := (&relay.Relay{DB: late, Publisher: b}).Once(t.Context())
				done <- err
			}()
			until(t, pool, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`)
			first := &relay.Relay{DB: pool, Publisher: c.first, Backoff: func(int) time.Duration { return time.Hour }}
			once(t, first)
			require.Equal(t, c.left, count(t, pool, "fsm_outbox"))

			require.NoError(t, shut.Commit(t.Context()))
			select {
			case err := <-done:
				require.NoError(t, err)
			case <-time.After(patience):
				require.NoError(t, errors.New("the late relay does not end"))
			}
			require.Empty(t, b.all())
			require.Equal(t, c.left, count(t, pool, "fsm_outbox"))
		})
	}
}
