package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/linear"
)

// crowd is clients who call a few orders at once, each by its own part of a seed.
type crowd struct {
	*shop
	rec  *record.Recorder
	keys []order.Key
}

// client makes calls of all kinds. What they answer is the checker's to judge.
func (c crowd) client(n int, seed uint64, calls int) error {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	name := "client " + strconv.Itoa(n)
	for range calls {
		a := c.pick(r)
		switch r.IntN(10) {
		case 0: // given up at any moment, before the answer is there or after
			ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(r.IntN(4000))*time.Microsecond)
			_, _ = a.by(c.rec, name, false)(ctx, c.pool)
			cancel()
		case 1: // two orders in one transaction, rolled back now and then
			if err := c.together(r, name, a); err != nil {
				return err
			}
		case 2:
			if err := c.batch(r, name); err != nil {
				return err
			}
		case 3:
			later := time.Now().Add(20 * 24 * time.Hour)
			sweeper := fsm.Sweeper{DB: c.pool, Sweeps: record.Sweeps(c.rec, name, order.Sweeps()), Page: fsm.SweepPage{Limit: 2, Now: &later}}
			if _, err := sweeper.Once(c.t.Context()); err != nil && !fsm.Retryable(err) {
				return err
			}
		default:
			if _, err := a.by(c.rec, name, false)(c.t.Context(), c.pool); err != nil && !tolerable(err) {
				return err
			}
		}
	}
	return nil
}

// tolerable reports whether the error may come of calls at once, or of what they ask.
func tolerable(err error) bool {
	return fsm.Retryable(err) || errors.Is(err, fsm.ErrNotFound) || errors.Is(err, fsm.ErrArgument) || errors.Is(err, errChanged)
}

// errChanged rolls a transaction back.
var errChanged = errors.New("another mind")

// key is an order, and the number of a payment or a refund, which it has in common with
// a neighbour.
func (c crowd) key(r *rand.Rand) (order.Key, string) {
	n := r.IntN(len(c.keys))
	return c.keys[n], fmt.Sprintf("P%d-%d", n/2, r.IntN(3))
}

// pick makes a call, most of which get an order on.
func (c crowd) pick(r *rand.Rand) asked {
	key, no := c.key(r)
	cents := []int64{due, due, due, 60, 40, 0}[r.IntN(6)]
	var options []fsm.Option
	if r.IntN(6) == 0 {
		options = append(options, fsm.ExpectVersion(1+r.Int64N(5)))
	}
	plain := []struct {
		name string
		fire func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error)
	}{{"pay", order.Pay}, {"cancel", order.Cancel}, {"expire", order.Expire}, {"ship", order.Ship}, {"receive", order.Receive}, {"query_payment", order.QueryPayment}}
	switch r.IntN(7) {
	case 0:
		return asksCreate(key)
	case 1, 2:
		return asksPaid(key, no, cents)
	case 3:
		return asksRefund(key, no, cents, options...)
	case 4:
		p := order.RefundSucceededParams{RefundNo: no, PaymentNo: no, AmountCents: cents}
		return asked{key: key, event: "refund_succeeded", params: p, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
			return order.RefundSucceeded(ctx, db, key, p)
		}}
	default:
		e := plain[r.IntN(len(plain))]
		return asked{key: key, event: e.name, options: options, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
			return e.fire(ctx, db, key, options...)
		}}
	}
}

// together makes two calls in a transaction of some isolation.
func (c crowd) together(r *rand.Rand, name string, first asked) error {
	second, back := c.pick(r), r.IntN(4) == 0
	policy := fsm.TxPolicy{Options: isolated([]pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable}[r.IntN(3)])}
	err := record.RunTx(c.t.Context(), c.pool, policy, c.rec, func(ctx context.Context, tx pgx.Tx, calls *record.Tx) error {
		for _, a := range []asked{first, second} {
			if _, err := a.by(calls, name, false)(ctx, tx); err != nil {
				return err
			}
		}
		if back {
			return errChanged
		}
		return nil
	})
	if err != nil && !tolerable(err) {
		return err
	}
	return nil
}

// batch tells several orders of payments at once.
func (c crowd) batch(r *rand.Rand, name string) error {
	var items []order.PaymentSucceededItem
	var calls []*record.Pending
	for range 2 + r.IntN(4) {
		key, no := c.key(r)
		item := order.PaymentSucceededItem{Key: key, Params: order.PaymentSucceededParams{PaymentNo: no, PaidCents: due}}
		items = append(items, item)
		calls = append(calls, c.rec.Invoke(name, item.Key, "payment_succeeded", item.Params))
	}
	results, err := order.PaymentSucceededBatch(c.t.Context(), c.pool, items)
	if err != nil {
		return err
	}
	for i, r := range results {
		record.Returned(calls[i], r.Result, r.Err)
	}
	return nil
}

// Whatever a crowd does to a few orders at once, there is an order of its calls in which
// the definition gives the answers that Pawl gave, and leaves what is there. PAWL_SEED
// is another seed, PAWL_CALLS more calls of each client, PAWL_HISTORY a file to keep them in.
func TestACrowdIsExplained(t *testing.T) {
	t.Parallel()
	seed, calls := numberOf(t, "PAWL_SEED", 1), numberOf(t, "PAWL_CALLS", 40)
	s := open(t)
	var history bytes.Buffer
	c := crowd{s, record.New(&history, "order"), nil}
	for n := range 12 {
		c.keys = append(c.keys, order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012x", n)))
	}
	errs := make([]error, 8)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() { errs[n] = c.client(n, seed, int(calls)) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err, "seed %d", seed)
	}
	require.NoError(t, c.rec.Found(t.Context(), s.pool, orders))
	require.NoError(t, c.rec.Err())
	v := s.verdict(&history)
	t.Logf("seed %d: %s", seed, v.Summary())
	if path := os.Getenv("PAWL_HISTORY"); path != "" {
		require.NoError(t, os.WriteFile(path, history.Bytes(), 0o600))
	}
	require.Equal(t, linear.Accepted, v.Result(), "seed %d: %s", seed, v.Findings())
	require.Zero(t, v.Either)
}

// numberOf is an environment variable's number.
func numberOf(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}
