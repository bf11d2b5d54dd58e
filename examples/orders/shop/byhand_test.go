package shop_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
)

// A callback that comes after all tells nothing new.
func TestCallbackAfterAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	require.NoError(t, fsm.RunTx(t.Context(), b.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		_, is, err := b.service.SettleRefund(ctx, tx, "r-1", true, fsm.Correction{Actor: "ann", Reason: "it is on their page"})
		require.Equal(t, "SUCCEEDED", string(is.Status))
		return err
	}))
	before := b.contents()
	b.told("Replayed", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, before, b.contents())
	require.Equal(t, "4000 -4000", b.value("SELECT concat_ws(' ', o.refunded_cents, l.cents) FROM orders AS o, shop_ledger AS l WHERE l.kind = 'refund'"))
}

// A person settles a refund while the service, which has a provider now, is about to
// start its call: whoever is second sees what the first did, and the money goes
// back once.
func TestPersonAndCallAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	b.relayed()
	b.clock.advance(time.Minute)
	require.Equal(t, 1, b.sweep()) // it is SENT, and refund_send waits
	b.service = b.other(newProvider(t))
	by := fsm.Correction{Actor: "ann", Reason: "it is on their page"}

	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, _, err = b.service.SettleRefund(t.Context(), tx, "r-1", true, by)
	require.NoError(t, err)
	relayed := make(chan error, 1)
	go func() {
		_, err := b.service.Relay().Once(t.Context())
		relayed <- err
	}()
	b.waiting(1)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-relayed)
	require.Empty(t, b.attempts())

	b = promised(t, newProvider(t))
	err = fsm.RunTx(t.Context(), b.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		_, _, err := b.service.SettleRefund(ctx, tx, "r-1", false, by)
		return err
	})
	require.ErrorIs(t, err, shop.ErrCalled)
	require.Equal(t, "r-1 STARTED", b.attempts())
}
