package acceptance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

const (
	hotOrders   = 4
	hotRefunds  = 12 // of each order, of one cent
	hotTellers  = 3  // of each refund
	hotAttempts = 2000
)

// refundWay is one of the ways in which a refund can be told.
type refundWay struct {
	name string
	tell func(ctx context.Context, key order.Key, no string) (fsm.Outcome, error)
}

func (s *shop) refundWays(c *fsm.Coalescer[order.Key, order.RefundParams, order.State, order.Row]) []refundWay {
	alone := func(ctx context.Context, db fsm.DB, key order.Key, no string, options ...fsm.Option) (fsm.Outcome, error) {
		r, err := order.Refund(ctx, db, key, order.RefundParams{RefundNo: no, AmountCents: 1}, options...)
		return r.Outcome, err
	}
	return []refundWay{
		{"alone", func(ctx context.Context, key order.Key, no string) (fsm.Outcome, error) {
			return alone(ctx, s.pool, key, no)
		}},
		{"with Then", func(ctx context.Context, key order.Key, no string) (fsm.Outcome, error) {
			return alone(ctx, s.pool, key, no, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
				_, err := tx.Exec(ctx, `UPDATE shop_stock SET quantity = quantity + 1 WHERE sku = 'returned'`)
				return err
			}))
		}},
		{"RunTx", func(ctx context.Context, key order.Key, no string) (told fsm.Outcome, err error) {
			err = fsm.RunTx(ctx, s.pool, fsm.TxPolicy{Attempts: 3}, func(ctx context.Context, tx pgx.Tx) error {
				if _, err := order.Get(ctx, tx, key); err != nil { // the snapshot is of here
					return err
				}
				told, err = alone(ctx, tx, key, no)
				return err
			})
			return told, err
		}},
		{"batch", func(ctx context.Context, key order.Key, no string) (fsm.Outcome, error) {
			results, err := order.RefundBatch(ctx, s.pool, []order.RefundItem{{Key: key, Params: order.RefundParams{RefundNo: no, AmountCents: 1}}})
			if err != nil {
				return "", err
			}
			return results[0].Result.Outcome, results[0].Err
		}},
		{"coalesced", func(ctx context.Context, key order.Key, no string) (fsm.Outcome, error) {
			r, err := c.Fire(ctx, order.RefundItem{Key: key, Params: order.RefundParams{RefundNo: no, AmountCents: 1}})
			return r.Outcome, err
		}},
	}
}

// insist makes a call again while it is told to.
func insist(ctx context.Context, tell func(context.Context) (fsm.Outcome, error)) (told fsm.Outcome, err error) {
	for range hotAttempts {
		if told, err = tell(ctx); !fsm.Retryable(err) {
			return told, err
		}
	}
	return told, err
}

// The database's default is stricter than READ COMMITTED, for all who call: refunds of a
// few hot orders, each told by several at once in another way, beside a sweeper. Losers
// are told 40001 and come again; every fact has its effect once, and everybody is told
// true.
func TestEverybodyAtAStricterDefault(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.insertOrders(1, hotOrders+hotRefunds+1)
			for n := 1; n <= hotOrders; n++ {
				s.must(paid(keyOf(n), fmt.Sprint("P", n), due))
			}
			s.must(paid(keyOf(hotOrders+hotRefunds+1), "P", due))
			s.exec(`INSERT INTO shop_stock (sku, quantity) VALUES ('returned', 0)`)
			s.exec(`UPDATE orders SET deadline_at = $1 WHERE status = 'PENDING'`, noon)
			s.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''` + level + `''', current_database()); END $$`)
			s.pool.Reset()
			require.Equal(t, level, s.text("SHOW transaction_isolation"))

			c, err := fsm.NewCoalescer(t.Context(), s.pool, order.RefundBatch, fsm.Coalescing{Workers: 2})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
			s.loses(hotOrders + hotRefunds + 1)
			applied := s.refundAtOnce(s.refundWays(c))
			then := 0
			for fact, ways := range applied {
				require.Len(t, ways, 1, fact)
				if ways[0] == "with Then" {
					then++
				}
			}
			require.Len(t, applied, hotOrders*hotRefunds)
			require.Equal(t, fmt.Sprint(then), s.text(`SELECT quantity::text FROM shop_stock WHERE sku = 'returned'`))
			require.Equal(t, fmt.Sprintf("%d %d %d", hotOrders, hotOrders*hotRefunds, hotRefunds), s.text(`SELECT concat_ws(' ',
				(SELECT count(*) FROM orders WHERE refund_cents = $1 AND version = 2 + $1),
				(SELECT count(*) FROM order_facts WHERE event = 'refund' AND outcome = 'Applied'),
				(SELECT count(*) FROM orders WHERE status = 'CANCELLED'))`, hotRefunds))
			require.Equal(t, "0", s.text(`SELECT count(*)::text FROM (SELECT order_id FROM order_history GROUP BY order_id
				HAVING max(version) - min(version) + 1 <> count(*)) AS gaps`))
		})
	}
}

// loses has a transaction take its snapshot before another one ships the order, and try
// the same: at the stricter levels it is told to come again.
func (s *shop) loses(n int) {
	s.t.Helper()
	err := fsm.RunTx(s.t.Context(), s.pool, fsm.TxPolicy{Attempts: 1}, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := order.Get(ctx, tx, keyOf(n)); err != nil {
			return err
		}
		r, err := order.Ship(ctx, s.pool, keyOf(n))
		require.NoError(s.t, err)
		require.Equal(s.t, fsm.Applied, r.Outcome)
		_, err = order.Ship(ctx, tx, keyOf(n))
		return err
	})
	require.True(s.t, fsm.Retryable(err), "%v", err)
	require.Equal(s.t, "40001", sqlState(s.t, err))
}

// refundAtOnce tells all refunds, each by several at once, while a sweeper runs. It
// returns in which ways each refund was applied.
func (s *shop) refundAtOnce(ways []refundWay) (applied map[string][]string) {
	s.t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	applied = map[string][]string{}
	note := func(fact, way string, told fsm.Outcome, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			s.t.Errorf("%s: %v", fact, err)
		case told == fsm.Applied:
			applied[fact] = append(applied[fact], way)
		case told != fsm.Replayed:
			s.t.Errorf("%s: %s", fact, told)
		}
	}
	for teller := range hotTellers {
		for n := range hotOrders {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(teller), uint64(n)))
				for i := range hotRefunds {
					way := ways[r.IntN(len(ways))]
					fact := fmt.Sprintf("R%d.%d", n, i)
					told, err := insist(s.t.Context(), func(ctx context.Context) (fsm.Outcome, error) { return way.tell(ctx, keyOf(n+1), fact) })
					note(fact, way.name, told, err)
				}
			})
		}
	}
	wg.Go(func() {
		moved := 0
		for moved < hotRefunds && s.t.Context().Err() == nil {
			n, err := (&fsm.Sweeper{DB: s.pool, Sweeps: order.Sweeps(), Page: fsm.SweepPage{Limit: 2}}).Once(s.t.Context())
			if err != nil && !fsm.Retryable(err) {
				s.t.Errorf("sweep: %v", err)
			}
			moved += n
		}
	})
	wg.Wait()
	return applied
}
