package acceptance

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func isolated(level pgx.TxIsoLevel) pgx.TxOptions { return pgx.TxOptions{IsoLevel: level} }

// snapshot makes the transaction take its snapshot.
func snapshot(t testing.TB, tx pgx.Tx) {
	t.Helper()
	require.Equal(t, "PENDING", textIn(t, tx, `SELECT status FROM orders WHERE order_id = $1`, string(key1)))
}

func requireSerialization(t testing.TB, err error, name string) {
	t.Helper()
	require.ErrorIs(t, err, fsm.ErrNothingDone, name)
	require.Equal(t, "40001", sqlState(t, err), name)
	require.True(t, fsm.Retryable(err), name)
}

func TestSnapshotLosersAreToldToRetry(t *testing.T) {
	t.Parallel()
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			s := open(t)
			for _, tc := range []struct {
				name          string
				given         []act
				winner, loser act
			}{
				{"same event", nil, event(order.Pay, key1), event(order.Pay, key1)},
				{"same fact", nil, paid(key1, "P1", due), paid(key1, "P1", due)},
				{"same fact on two rows", nil, paid(key2, "P1", due), paid(key1, "P1", due)},
				{"same compensated fact", []act{paid(key1, "P0", 99)}, paid(key1, "P1", 99), paid(key1, "P1", 99)},
				{"a correction", nil, event(order.Pay, key1), event(corrected(order.StatePaid), key1)},
			} {
				s.again(key1, key2)
				s.must(tc.given...)
				tx := s.begin(isolated(level))
				err := s.raceIn(tx, tc.winner, tc.loser).err
				require.NoError(t, tx.Rollback(t.Context()))
				requireSerialization(t, err, tc.name+", waiting")

				s.again(key1, key2)
				s.must(tc.given...)
				tx = s.begin(isolated(level))
				snapshot(t, tx)
				s.must(tc.winner)
				_, err = tc.loser(t.Context(), tx)
				require.NoError(t, tx.Rollback(t.Context()))
				requireSerialization(t, err, tc.name+", committed before")
			}
		})
	}
}

// What naive code does in such a transaction: wait for a lock, then judge. The
// lock was free, the row it reads is from before.
func TestLockThenJudgeIsStaleInASnapshot(t *testing.T) {
	t.Parallel()
	judge := func(ctx context.Context, db fsm.DB) (string, error) {
		if _, err := db.Exec(ctx, `SELECT pg_advisory_xact_lock(1)`); err != nil {
			return "", err
		}
		return statement(`SELECT status FROM orders WHERE order_id = $1`, string(key1))(ctx, db)
	}
	s := open(t)
	for _, tc := range []struct {
		level pgx.TxIsoLevel
		sees  string
	}{{pgx.ReadCommitted, "PAID"}, {pgx.RepeatableRead, "PENDING"}, {pgx.Serializable, "PENDING"}} {
		s.again(key1)
		tx := s.begin(isolated(tc.level))
		got := s.raceIn(tx, both(judge, paid(key1, "P1", due)), judge)
		require.NoError(t, got.err)
		require.Equal(t, tc.sees, got.told)
		require.NoError(t, tx.Rollback(t.Context()))
	}
}

func TestAnswersFromASnapshotAreMarked(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, tc := range []struct {
		level  pgx.TxIsoLevel
		told   string
		marked bool
	}{
		{pgx.ReadCommitted, "Rejected PAID 3", false},
		{pgx.RepeatableRead, "Replayed CANCELLED 2", true},
		{pgx.Serializable, "Replayed CANCELLED 2", true},
	} {
		s.again(key1)
		s.must(event(order.Cancel, key1))
		tx := s.begin(isolated(tc.level))
		require.Equal(t, "CANCELLED", textIn(t, tx, `SELECT status FROM orders`))
		s.must(event(corrected(order.StatePaid), key1))
		r, err := order.Cancel(t.Context(), tx, key1)
		require.NoError(t, err)
		require.Equal(t, tc.told, told(r))
		require.Equal(t, tc.marked, r.Snapshot)
		require.NoError(t, tx.Rollback(t.Context()))
	}
}

// RunTx is what a caller puts around such calls.
func TestRunTxRepeatsASnapshotLoser(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	runs, waits := 0, 0
	var got string
	err := fsm.RunTx(t.Context(), s.pool, fsm.TxPolicy{
		Options: isolated(pgx.RepeatableRead),
		Wait:    func(context.Context, time.Duration) error { waits++; return nil },
	}, func(ctx context.Context, tx pgx.Tx) error {
		runs++
		snapshotOf := tx.QueryRow(ctx, `SELECT status FROM orders`)
		if err := snapshotOf.Scan(new(string)); err != nil {
			return err
		}
		if runs == 1 {
			s.must(paid(key1, "P1", due))
		}
		var err error
		got, err = paid(key1, "P1", due)(ctx, tx)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, "Replayed PAID 2", got)
	require.Equal(t, []int{2, 1}, []int{runs, waits})
}
