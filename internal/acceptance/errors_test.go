package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// set changes a setting of a session.
func set(t testing.TB, conn *pgx.Conn, setting string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), "SET "+setting)
	require.NoError(t, err)
}

// hold locks the order in a transaction of its own.
func (s *shop) hold(key order.Key) pgx.Tx {
	s.t.Helper()
	held := s.begin(pgx.TxOptions{})
	_, err := held.Exec(s.t.Context(), `SELECT FROM orders WHERE order_id = $1 FOR NO KEY UPDATE`, string(key))
	require.NoError(s.t, err)
	return held
}

func TestTimeoutsOfTheServer(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	for _, tc := range []struct {
		setting, state string
		retryable      bool
	}{
		{"lock_timeout = '20ms'", "55P03", true},
		{"statement_timeout = '20ms'", "57014", false},
	} {
		t.Run(tc.setting, func(t *testing.T) {
			held := s.hold(key1)
			conn := s.conn()
			set(t, conn, tc.setting)
			for _, call := range []act{
				paid(key1, "P1", due),
				paid(key1, "P1", due, order.Then(takeStock)),
				event(corrected(order.StatePaid), key1),
			} {
				_, err := call(t.Context(), conn)
				require.ErrorIs(t, err, fsm.ErrNothingDone)
				require.NotErrorIs(t, err, fsm.ErrUnknown)
				require.Equal(t, tc.state, sqlState(t, err))
				require.Equal(t, tc.retryable, fsm.Retryable(err))
			}
			require.NoError(t, held.Rollback(t.Context()))
			require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
		})
	}
}

func TestDeadlock(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	first, second := s.begin(pgx.TxOptions{}), s.begin(pgx.TxOptions{})
	// The server ends whoever looks first.
	set(t, first.Conn(), "deadlock_timeout = '1min'")
	set(t, second.Conn(), "deadlock_timeout = '1ms'")
	_, err := event(order.Pay, key1)(t.Context(), first)
	require.NoError(t, err)
	_, err = event(order.Pay, key2)(t.Context(), second)
	require.NoError(t, err)
	done := start(t.Context(), first, paid(key2, "P1", due))
	waitUntilBlocked(t, s.pool, pidOf(first.Conn()), done)
	_, err = paid(key1, "P2", due)(t.Context(), second)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, "40P01", sqlState(t, err))
	require.True(t, fsm.Retryable(err))
	require.NoError(t, second.Rollback(t.Context()))
	require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done))
	require.NoError(t, first.Commit(t.Context()))
}

// The session is killed while the call waits: the caller cannot know, and asks
// again. Here nothing had been done.
func TestKilledWhileWaiting(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, call := range map[string]act{
		"statement": paid(key1, "P1", due),
		"then":      paid(key1, "P1", due, order.Then(takeStock)),
	} {
		t.Run(name, func(t *testing.T) {
			s.again(key1)
			held := s.hold(key1)
			conn := s.conn()
			done := start(t.Context(), conn, call)
			waitUntilBlocked(t, s.pool, pidOf(conn), done)
			s.exec(`SELECT pg_terminate_backend($1)`, int32(pidOf(conn)))
			err := finish(t, done).err
			require.ErrorIs(t, err, fsm.ErrUnknown)
			require.NotErrorIs(t, err, fsm.ErrNothingDone)
			require.False(t, fsm.Retryable(err))
			require.NoError(t, held.Rollback(t.Context()))
			s.says("Applied PAID 2", call)
			s.says("Replayed PAID 2", call)
		})
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	held := s.hold(key1)
	conn := s.conn()
	ctx, cancel := context.WithCancel(t.Context())
	done := start(ctx, conn, paid(key1, "P1", due))
	waitUntilBlocked(t, s.pool, pidOf(conn), done)
	cancel()
	err := finish(t, done).err
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, fsm.Retryable(err))
	require.NoError(t, held.Rollback(t.Context()))
	r, err := order.PaymentSucceeded(t.Context(), s.pool, key1, order.PaymentSucceededParams{PaymentNo: "P1", PaidCents: due})
	require.NoError(t, err)
	require.Contains(t, []string{"Applied PAID 2", "Replayed PAID 2"}, told(r)) // the server may not have noticed in time
	require.Equal(t, life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"}, s.life(key1))
}

// What was never sent is certain.
func TestNothingSentIsNothingDone(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := paid(key1, "P1", due)(ended, s.pool)
	require.Error(t, err)
	require.NotErrorIs(t, err, fsm.ErrUnknown)

	tx := s.begin(pgx.TxOptions{})
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = paid(key1, "P1", due)(t.Context(), tx)
	require.ErrorIs(t, err, fsm.ErrNothingDone)

	conn := s.conn()
	require.NoError(t, conn.Close(t.Context()))
	_, err = paid(key1, "P1", due)(t.Context(), conn)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
}

// A standby, or a session that is told not to write.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	tx := s.begin(pgx.TxOptions{AccessMode: pgx.ReadOnly})
	_, err := paid(key1, "P1", due)(t.Context(), tx)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, "25006", sqlState(t, err))
	require.False(t, fsm.Retryable(err))
}

// In an aborted transaction nothing can be done any more.
func TestAbortedTransaction(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	tx := s.begin(pgx.TxOptions{})
	_, err := tx.Exec(t.Context(), `SELECT 1/0`)
	require.Error(t, err)
	_, err = event(order.Pay, key1)(t.Context(), tx)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, "25P02", sqlState(t, err))

	err = fsm.RunTx(t.Context(), s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		_, _ = tx.Exec(ctx, `SELECT 1/0`) // a COMMIT of such a transaction is a rollback
		return nil
	})
	require.ErrorIs(t, err, fsm.ErrNothingDone)
}
