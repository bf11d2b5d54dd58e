package acceptance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// without leaves a line out of the statements, which must have it.
type without struct {
	fsm.DB
	t    testing.TB
	line string
}

func (d without) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if d.line != "" {
		require.Contains(d.t, sql, d.line)
		sql = strings.Replace(sql, d.line, "", 1)
	}
	return d.DB.Query(ctx, sql, args...)
}

// batchOf makes an act of a batch; it returns what its items were told.
func batchOf(items ...order.PaymentSucceededItem) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		results, err := order.PaymentSucceededBatch(ctx, db, items)
		return strings.Join(inShort(results), ", "), err
	}
}

// crossed starts two acts that each get to what held has, with something of the
// other's behind it, and then ends held. It returns what they were told. A
// statement without the line that sorts takes the items as they come.
func (s *shop) crossed(held pgx.Tx, line string, a, b act) [2]answer {
	s.t.Helper()
	var done [2]<-chan answer
	for i, a := range []act{a, b} {
		conn := s.conn()
		for _, way := range []string{"hashjoin", "mergejoin", "seqscan", "bitmapscan"} { // rows are then looked up one by one
			set(s.t, conn, "enable_"+way+" = off")
		}
		set(s.t, conn, "jit = off") // such a plan looks costly enough to be compiled
		done[i] = start(s.t.Context(), without{conn, s.t, line}, a)
		waitUntilBlocked(s.t, s.pool, pidOf(conn), done[i])
	}
	require.NoError(s.t, held.Rollback(s.t.Context()))
	return [2]answer{finish(s.t, done[0]), finish(s.t, done[1])}
}

// Two batches have their rows in opposite orders, and both wait in the middle. The
// generated statements lock in one order; without it each waits for the other.
func TestBatchesWithTheirRowsInOppositeOrders(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := batchOf(paying(key1, "P1", due), paying(key2, "P2", due), paying(key3, "P3", due))
	b := batchOf(paying(key3, "P3", due), paying(key2, "P2", due), paying(key1, "P1", due))

	s.again(key1, key2, key3)
	got := s.crossed(s.hold(key2), "", a, b)
	require.Equal(t, answer{told: "Applied PAID 2, Applied PAID 2, Applied PAID 2"}, got[0])
	require.Equal(t, answer{told: "Replayed PAID 2, Replayed PAID 2, Replayed PAID 2"}, got[1])

	s.again(key1, key2, key3)
	requireDeadlock(t, s.crossed(s.hold(key2), "  ORDER BY o.order_id\n", a, b))
}

// The same of facts, which two batches bring to rows of their own.
func TestBatchesWithTheirFactsInOppositeOrders(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := batchOf(paying(keyOf(1), "P1", due), paying(keyOf(2), "P2", due), paying(keyOf(3), "P3", due))
	b := batchOf(paying(keyOf(4), "P3", due), paying(keyOf(5), "P2", due), paying(keyOf(6), "P1", due))
	told := func() pgx.Tx { // of a seventh row, and not yet committed
		s.again(keysOf(1, 7)...)
		held := s.begin(pgx.TxOptions{})
		_, err := paid(keyOf(7), "P2", due)(t.Context(), held)
		require.NoError(t, err)
		return held
	}

	got := s.crossed(told(), "", a, b)
	require.Equal(t, answer{told: "Applied PAID 2, Applied PAID 2, Applied PAID 2"}, got[0])
	require.Equal(t, answer{told: "Mismatched PENDING 1, Mismatched PENDING 1, Mismatched PENDING 1"}, got[1])

	requireDeadlock(t, s.crossed(told(), "  ORDER BY l.fsm_arg_payment_no, l.fsm_n\n", a, b))
}

// requireDeadlock wants one of two to be the victim, and the other to be done.
func requireDeadlock(t *testing.T, got [2]answer) {
	t.Helper()
	victim := got[0].err
	if victim == nil {
		victim = got[1].err
	} else {
		require.NoError(t, got[1].err)
	}
	require.Error(t, victim)
	require.Equal(t, "40P01", sqlState(t, victim))
	require.ErrorIs(t, victim, fsm.ErrNothingDone)
	require.True(t, fsm.Retryable(victim))
}

// Batches and single calls, all at once and in any order: none is the victim of a
// deadlock, each fact takes effect once, and no version is left out.
func TestBatchesAndCallsInAnyOrder(t *testing.T) {
	t.Parallel()
	const rows, facts, batches, size, calls = 12, 30, 25, 20, 60
	keys := keysOf(1, rows)
	s := open(t, keys...)
	var wg sync.WaitGroup
	fails := make(chan error, 1000)
	tell := func(err error) {
		if err != nil {
			select {
			case fails <- err:
			default:
			}
		}
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 6))
		item := func() order.PaymentSucceededItem {
			return paying(keys[random.IntN(rows)], fmt.Sprint("P", random.IntN(facts)), due)
		}
		wg.Go(func() {
			for range batches {
				items := make([]order.PaymentSucceededItem, size)
				for i := range items {
					items[i] = item()
				}
				results, err := order.PaymentSucceededBatch(t.Context(), s.pool, items)
				tell(err)
				for _, r := range results {
					tell(r.Err)
				}
			}
		})
		single := rand.New(rand.NewPCG(seed, 7))
		wg.Go(func() {
			for range calls {
				_, err := order.PaymentSucceeded(t.Context(), s.pool, keys[single.IntN(rows)],
					order.PaymentSucceededParams{PaymentNo: fmt.Sprint("P", single.IntN(facts)), PaidCents: due})
				tell(err)
			}
		})
	}
	wg.Wait()
	close(fails)
	for err := range fails {
		require.NoError(t, err)
	}
	paid := s.text(`SELECT count(*)::text FROM orders WHERE status = 'PAID' AND version = 2`)
	require.Equal(t, paid, s.text(`SELECT count(*)::text FROM orders WHERE version > 1`))
	require.Equal(t, paid, s.text(`SELECT count(*)::text FROM order_facts WHERE outcome = 'Applied'`))
	require.Equal(t, paid, s.text(`SELECT count(*)::text FROM order_history WHERE event <> 'create'`))
	require.Equal(t, fmt.Sprint(facts), s.text(`SELECT count(*)::text FROM order_facts`))
	require.Equal(t, fmt.Sprint(facts), s.text(`SELECT count(*)::text FROM fsm_outbox WHERE event <> 'create'`))
}
