package acceptance

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
)

var errEffect = errors.New("no tea left")

// note writes a row that shows whether an effect lasted.
func note(ctx context.Context, tx pgx.Tx, key order.Key) error {
	_, err := tx.Exec(ctx, `INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, 'paid', 'c1', 1)`, string(key))
	return err
}

func (s *shop) points() string {
	s.t.Helper()
	return s.text(`SELECT count(*)::text FROM shop_points`)
}

func TestThenSharesTheTransaction(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.says("Applied PAID 2", paid(key1, "P1", due, order.Then(func(ctx context.Context, tx pgx.Tx, r order.Result) error {
		require.Equal(t, "Applied PAID 2", told(r))
		require.Equal(t, "PAID 2 100/0", lifeIn(t, tx, key1).Row)
		require.Equal(t, "PENDING 1 0/0", s.life(key1).Row, "nobody else sees it yet")
		return note(ctx, tx, key1)
	})))
	require.Equal(t, "1", s.points())
}

// Only what was applied has effects.
func TestThenRunsWhenAppliedAndNotOtherwise(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	never := order.Then(func(context.Context, pgx.Tx, order.Result) error {
		require.Fail(t, "an effect of a call that was not applied")
		return nil
	})
	s.says("Replayed PAID 2", paid(key1, "P1", due, never))
	s.says("Mismatched PAID 2", paid(key1, "P1", 99, never))
	s.says("Compensated PAID 2", paid(key1, "P2", due, never))
	s.says("Rejected PAID 2", event(order.Pay, key1, never))
	s.says("Ignored PAID 2", event(order.Expire, key1, never))
	s.says("GuardFailed PAID 2", refund(key1, "R1", 101, never))
	s.says("Stale PAID 2", refund(key1, "R1", 50, expect(1), never))
	require.Equal(t, "P1=Applied P2=Compensated", s.life(key1).Facts, "a compensated fact is committed")
}

func TestThenFailsAsAWhole(t *testing.T) {
	t.Parallel()
	fails := order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
		require.NoError(t, note(ctx, tx, key1))
		return errEffect
	})
	panics := order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
		require.NoError(t, note(ctx, tx, key1))
		panic(errEffect)
	})
	refused := order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
		_, err := tx.Exec(ctx, `INSERT INTO shop_stock VALUES ('tea', -1)`)
		return err
	})
	untouched := life{Row: "PENDING 1 0/0"}
	s := open(t)
	for _, tc := range []struct {
		name string
		then fsm.Option
		call func(ctx context.Context, db fsm.DB, then fsm.Option)
	}{
		{"error", fails, func(ctx context.Context, db fsm.DB, then fsm.Option) {
			_, err := paid(key1, "P1", due, then)(ctx, db)
			require.ErrorIs(t, err, errEffect)
			require.False(t, fsm.Retryable(err))
		}},
		{"panic", panics, func(ctx context.Context, db fsm.DB, then fsm.Option) {
			require.PanicsWithError(t, errEffect.Error(), func() { _, _ = paid(key1, "P1", due, then)(ctx, db) })
		}},
		{"database error", refused, func(ctx context.Context, db fsm.DB, then fsm.Option) {
			_, err := paid(key1, "P1", due, then)(ctx, db)
			requireViolation(t, err, "shop_stock_quantity_check", "stock")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.again(key1)
			tc.call(t.Context(), s.pool, tc.then)
			require.Equal(t, untouched, s.life(key1))
			require.Equal(t, "0", s.points())

			// In a caller's transaction the rest of it goes on.
			tx := s.begin(pgx.TxOptions{})
			require.NoError(t, note(t.Context(), tx, key2))
			tc.call(t.Context(), tx, tc.then)
			require.Equal(t, untouched, lifeIn(t, tx, key1))
			got, err := event(order.Pay, key1)(t.Context(), tx)
			require.NoError(t, err)
			require.Equal(t, "Applied PAYING 2", got)
			require.NoError(t, tx.Commit(t.Context()))
			require.Equal(t, life{Row: "PAYING 2 0/0", History: "pay:PENDING>PAYING"}, s.life(key1))
			require.Equal(t, "1", s.points())
			s.says("Applied PAID 3", paid(key1, "P1", due))
		})
	}
}

// In a caller's transaction nothing is there for others until it commits, and a
// rollback takes all of it.
func TestCallersTransactionDecides(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	tx := s.begin(pgx.TxOptions{})
	for _, call := range []act{
		paid(key1, "P1", due, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error { return note(ctx, tx, key1) })),
		paid(key1, "P2", due), event(order.Ship, key1),
	} {
		_, err := call(t.Context(), tx)
		require.NoError(t, err)
	}
	got, err := paid(key1, "P1", due)(t.Context(), tx)
	require.NoError(t, err)
	require.Equal(t, "Replayed SHIPPED 3", got)
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
	require.Equal(t, "0", s.points())
}

func TestThenOfAnotherMachine(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	_, err := paid(key1, "P1", due, payment.Then(func(context.Context, pgx.Tx, payment.Result) error { return nil }))(t.Context(), s.pool)
	require.ErrorIs(t, err, fsm.ErrArgument)
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
}
