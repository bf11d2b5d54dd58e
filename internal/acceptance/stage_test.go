package acceptance

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
)

// patience bounds every wait of a staged race. It is there to fail a test that
// would hang, and is never waited out by one that passes.
const patience = 20 * time.Second

// answer is what a call in a goroutine was told.
type answer struct {
	told string
	err  error
}

// start makes a call in a goroutine of its own.
func start(ctx context.Context, db fsm.DB, a act) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		got, err := a(ctx, db)
		done <- answer{got, err}
	}()
	return done
}

// finish waits for a started call.
func finish(t testing.TB, done <-chan answer) answer {
	t.Helper()
	select {
	case a := <-done:
		return a
	case <-time.After(patience):
		require.FailNow(t, "the call did not end")
		return answer{}
	}
}

// pidOf is the server process of a session.
func pidOf(conn *pgx.Conn) uint32 { return conn.PgConn().PID() }

// waitUntilBlocked returns once the session waits for a lock that another holds.
// It asks the server again and again: the server's own view is the signal, and
// no time is taken for one. A call that ends instead fails the test.
func waitUntilBlocked(t testing.TB, pool *pgxpool.Pool, pid uint32, done <-chan answer) {
	t.Helper()
	waitFor(t, pool, done, `SELECT cardinality(pg_blocking_pids($1)) > 0`, int32(pid))
}

// waitUntilWaiting returns once n sessions of the database wait for locks.
func waitUntilWaiting(t testing.TB, pool *pgxpool.Pool, n int, done <-chan answer) {
	t.Helper()
	waitFor(t, pool, done, `SELECT count(*) >= $1 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`, n)
}

func waitFor(t testing.TB, pool *pgxpool.Pool, done <-chan answer, sql string, arg any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ask := time.NewTicker(time.Millisecond) // so that asking does not keep the others from running
	defer ask.Stop()
	for {
		select {
		case a := <-done:
			require.FailNow(t, "the call ended without waiting", "%q %v", a.told, a.err)
		case <-ask.C:
		}
		var yes bool
		require.NoError(t, pool.QueryRow(ctx, sql, arg).Scan(&yes), "nothing waits")
		if yes {
			return
		}
	}
}

// race runs winner in a transaction, starts loser in another session, commits
// the winner once the loser waits for it, and returns what the loser was told.
func (s *shop) race(winner, loser act) answer {
	s.t.Helper()
	held := s.begin(pgx.TxOptions{})
	_, err := winner(s.t.Context(), held)
	require.NoError(s.t, err)
	conn := s.conn()
	return s.commitWhenBlocked(held, conn, start(s.t.Context(), conn, loser))
}

// raceIn is race with the loser in a transaction of its own that stays open.
func (s *shop) raceIn(tx pgx.Tx, winner, loser act) answer {
	s.t.Helper()
	held := s.begin(pgx.TxOptions{})
	_, err := winner(s.t.Context(), held)
	require.NoError(s.t, err)
	return s.commitWhenBlocked(held, tx.Conn(), start(s.t.Context(), tx, loser))
}

func (s *shop) commitWhenBlocked(held pgx.Tx, loser *pgx.Conn, done <-chan answer) answer {
	s.t.Helper()
	waitUntilBlocked(s.t, s.pool, pidOf(loser), done)
	require.NoError(s.t, held.Commit(s.t.Context()))
	return finish(s.t, done)
}
