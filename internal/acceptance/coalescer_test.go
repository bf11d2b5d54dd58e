package acceptance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

type payments = fsm.Coalescer[order.Key, order.PaymentSucceededParams, order.State, order.Row]

// coalescer gathers payments over the pool's database, and is closed with the test.
func (s *shop) coalescer(pool *pgxpool.Pool, o fsm.Coalescing) *payments {
	s.t.Helper()
	c, err := fsm.NewCoalescer(s.t.Context(), pool, order.PaymentSucceededBatch, o)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, c.Close(context.Background())) })
	return c
}

// through makes acts of a coalescer's calls.
func through(c *payments, item order.PaymentSucceededItem) act {
	return func(ctx context.Context, _ fsm.DB) (string, error) {
		r, err := c.Fire(ctx, item)
		return told(r), err
	}
}

// Many callers tell of payments at once, each of them several times: one of each is
// Applied, the others are Replayed, and everything is written once.
func TestCoalescedCallersAtOnce(t *testing.T) {
	t.Parallel()
	const orders, callers = 100, 4
	s := open(t)
	s.insertOrders(1, orders)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 3, Size: 40})
	told := make([][callers]fsm.Outcome, orders)
	var wg sync.WaitGroup
	for n := range orders {
		for i := range callers {
			wg.Go(func() {
				r, err := c.Fire(t.Context(), paying(keyOf(n+1), fmt.Sprint("P", n), due))
				if err != nil || r.State != order.StatePaid || r.Version != 2 {
					t.Error(r, err)
				}
				told[n][i] = r.Outcome
			})
		}
	}
	wg.Wait()
	for n := range told {
		applied := 0
		for _, outcome := range told[n] {
			if outcome == fsm.Applied {
				applied++
			} else {
				require.Equal(t, fsm.Replayed, outcome)
			}
		}
		require.Equal(t, 1, applied)
	}
	require.Equal(t, "100 100 100 100", s.text(`SELECT concat_ws(' ', (SELECT count(*) FROM orders WHERE status = 'PAID'),
		(SELECT count(*) FROM order_facts), (SELECT count(*) FROM order_history), (SELECT count(*) FROM fsm_outbox))`))
	require.EqualValues(t, orders*callers, c.Stats().Calls)
	require.Less(t, c.Stats().Batches, int64(orders*callers), "some came together")
	require.NoError(t, c.Close(t.Context()))
	_, err := c.Fire(t.Context(), paying(key1, "P1", due))
	require.Equal(t, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrNothingDone, Err: fsm.ErrClosed}, err)
}

// The connections of a coalescer read what is committed now, whatever the database
// does by default: a batch in a snapshot would refuse what others have moved.
func TestACoalescerReadsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	config := s.pool.Config()
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	strict, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(strict.Close)
	require.Equal(t, "serializable", textIn(t, strict, `SHOW transaction_isolation`))

	for _, tc := range []struct {
		name   string
		waits  act
		refuse bool
	}{
		{"a call by the pool", func(ctx context.Context, _ fsm.DB) (string, error) {
			return paid(key1, "P1", due)(ctx, strict)
		}, true},
		{"a call by a coalescer", through(s.coalescer(strict, fsm.Coalescing{LockTimeout: patience}), paying(key1, "P1", due)), false},
	} {
		s.again(key1)
		held := s.begin(pgx.TxOptions{})
		_, err := event(order.Pay, key1)(t.Context(), held)
		require.NoError(t, err)
		done := start(t.Context(), strict, tc.waits)
		waitUntilWaiting(t, s.pool, 1, done)
		require.NoError(t, held.Commit(t.Context()))
		got := finish(t, done)
		if tc.refuse {
			requireSerialization(t, got.err, tc.name)
		} else {
			require.Equal(t, answer{told: "Applied PAID 3"}, got, tc.name)
		}
	}
}

// A plan is made once. Where the tables were empty then, and known to be, it must not
// read all of what they have later.
func TestACoalescersPlanOutlivesEmptyTables(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	_, err := s.pool.Exec(t.Context(), "VACUUM ANALYZE order_facts")
	require.NoError(t, err)
	plan := func(db fsm.DB) string {
		rows, err := db.Query(t.Context(), "EXPLAIN SELECT f.version FROM order_facts AS f WHERE f.event = 'payment_succeeded' AND f.identity = 'P1'")
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return strings.Join(lines, "\n")
	}
	require.Contains(t, plan(s.pool), "Seq Scan", "what the planner prefers otherwise")
	plans := make(chan string, 1)
	c, err := fsm.NewCoalescer(t.Context(), s.pool, func(ctx context.Context, on fsm.DB, items []order.PayItem, options ...fsm.Option) ([]order.BatchResult, error) {
		plans <- plan(on)
		return order.PayBatch(ctx, on, items, options...)
	}, fsm.Coalescing{})
	require.NoError(t, err)
	_, err = c.Fire(t.Context(), order.PayItem{Key: key1})
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
	require.Contains(t, <-plans, "Index Scan using order_facts_pkey")
}

// panicky is a tracer that panics once, inside of pgx.
type panicky struct{ left *atomic.Int32 }

func (p panicky) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, "OrderPayBatch") && p.left.Add(-1) >= 0 {
		panic("boom")
	}
	return ctx
}

func (panicky) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A panic below the batch costs its calls their answers, and nobody else.
func TestACoalescersConnectionOutlivesAPanic(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	config := s.pool.Config()
	config.ConnConfig.Tracer = panicky{left: new(atomic.Int32)}
	config.ConnConfig.Tracer.(panicky).left.Store(1)
	traced, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(traced.Close)
	c, err := fsm.NewCoalescer(t.Context(), traced, order.PayBatch, fsm.Coalescing{Workers: 1, Timeout: time.Hour})
	require.NoError(t, err)
	_, err = c.Fire(t.Context(), order.PayItem{Key: key1})
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.ErrorContains(t, err, "boom")
	r, err := c.Fire(t.Context(), order.PayItem{Key: key1})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	require.NoError(t, c.Close(t.Context()))
}

// The time that the pool gives a single statement is not a batch's.
func TestACoalescersStatementsHaveItsTime(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	config := s.pool.Config()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "450"
	hasty, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(hasty.Close)
	shown := make(chan string, 1)
	c, err := fsm.NewCoalescer(t.Context(), hasty, func(ctx context.Context, on fsm.DB, items []order.PayItem, options ...fsm.Option) ([]order.BatchResult, error) {
		shown <- textIn(t, on, "SHOW statement_timeout")
		return order.PayBatch(ctx, on, items, options...)
	}, fsm.Coalescing{Timeout: 20 * time.Second})
	require.NoError(t, err)
	_, err = c.Fire(t.Context(), order.PayItem{Key: key1})
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, "20s", <-shown)
}

// gathered has calls come while the only worker waits for a row, so that all of them
// are one batch. It returns what each was told.
func (s *shop) gathered(c *payments, items ...order.PaymentSucceededItem) []answer {
	s.t.Helper()
	held := s.hold(key1)
	first := start(s.t.Context(), s.pool, through(c, paying(key1, "P1", due)))
	waitUntilWaiting(s.t, s.pool, 1, first)
	done := make([]<-chan answer, len(items))
	for i, item := range items {
		done[i] = start(s.t.Context(), s.pool, through(c, item))
		for c.Stats().Waiting < i+2 {
			require.NoError(s.t, s.t.Context().Err())
		}
	}
	require.NoError(s.t, held.Rollback(s.t.Context()))
	require.Equal(s.t, answer{told: "Applied PAID 2"}, finish(s.t, first))
	told := make([]answer, len(items))
	for i := range done {
		told[i] = finish(s.t, done[i])
	}
	require.EqualValues(s.t, 2, c.Stats().Batches)
	return told
}

// What the database refuses of one call is that call's error.
func TestACoalescedCallThatIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3, keyOf(4))
	s.exec(`ALTER TABLE order_facts ADD CHECK (identity <> 'bad')`)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 1, LockTimeout: patience})
	got := s.gathered(c, paying(key2, "P2", due), paying(key3, "bad", due), paying(keyOf(4), "P4", due), paying(keyOf(5), "P5", due))
	require.Equal(t, answer{told: "Applied PAID 2"}, got[0])
	require.Equal(t, "23514", sqlState(t, got[1].err))
	require.ErrorIs(t, got[1].err, fsm.ErrNothingDone)
	require.Equal(t, answer{told: "Applied PAID 2"}, got[2])
	require.ErrorIs(t, got[3].err, fsm.ErrNotFound)
}

// A row that somebody holds keeps those waiting who want it, and the others only until
// the lock's time is over.
func TestACoalescedRowThatIsHeld(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3, keyOf(4))
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 1, Wait: time.Second, Size: 3, LockTimeout: 50 * time.Millisecond})
	held := s.hold(key3)
	var done []<-chan answer
	for n := 2; n <= 4; n++ { // a full batch
		done = append(done, start(t.Context(), s.pool, through(c, paying(keyOf(n), fmt.Sprint("P", n), due))))
	}
	require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done[0]))
	require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done[2]))
	got := finish(t, done[1])
	require.Equal(t, "55P03", sqlState(t, got.err))
	require.True(t, fsm.Retryable(got.err))
	require.NoError(t, held.Rollback(t.Context()))
	r, err := c.Fire(t.Context(), paying(key3, "P3", due))
	require.NoError(t, err)
	require.Equal(t, "Applied PAID 2", told(r))
}

// Close that loses its patience leaves the call in doubt. The context that it ended is
// nobody's but its own.
func TestACoalescerIsCutOff(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 1, LockTimeout: patience})
	held := s.hold(key1)
	done := start(t.Context(), s.pool, through(c, paying(key1, "P1", due)))
	waitUntilWaiting(t, s.pool, 1, done)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Close(ended), context.Canceled)
	got := finish(t, done)
	require.ErrorIs(t, got.err, fsm.ErrUnknown)
	require.NotErrorIs(t, got.err, context.Canceled)
	call := &fsm.CallError{}
	require.ErrorAs(t, got.err, &call)
	require.Equal(t, "order payment_succeeded", call.Machine+" "+call.Event)
	require.NoError(t, held.Rollback(t.Context()))
}

// Who stops waiting while the batch is under way does not know what came of it; the
// others do, and so does who asks again.
func TestACoalescedCallerWhoLeaves(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 1, LockTimeout: patience})
	held := s.hold(key1)
	ctx, cancel := context.WithCancel(t.Context())
	leaves := start(ctx, s.pool, through(c, paying(key1, "P1", due)))
	waitUntilWaiting(t, s.pool, 1, leaves)
	stays := start(t.Context(), s.pool, through(c, paying(key1, "P1", due)))
	cancel()
	got := finish(t, leaves)
	require.ErrorIs(t, got.err, fsm.ErrUnknown)
	require.ErrorIs(t, got.err, context.Canceled)
	require.NoError(t, held.Rollback(t.Context()))
	require.Equal(t, answer{told: "Replayed PAID 2"}, finish(t, stays))
}

// A session that is lost in a batch leaves its calls in doubt, and the worker goes on
// with another.
func TestACoalescersSessionIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 1, LockTimeout: patience})
	held := s.hold(key1)
	done := start(t.Context(), s.pool, through(c, paying(key1, "P1", due)))
	waitUntilWaiting(t, s.pool, 1, done)
	s.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	got := finish(t, done)
	require.ErrorIs(t, got.err, fsm.ErrUnknown)
	require.NoError(t, held.Rollback(t.Context()))
	r, err := c.Fire(t.Context(), paying(key1, "P1", due))
	require.NoError(t, err)
	require.Equal(t, "Applied PAID 2", told(r))
}

// Nothing that was let in is lost when the coalescer is closed under load.
func TestACoalescerIsClosedUnderLoad(t *testing.T) {
	t.Parallel()
	const orders = 200
	s := open(t)
	s.insertOrders(1, orders)
	c := s.coalescer(s.pool, fsm.Coalescing{Workers: 2, Size: 10})
	var wg sync.WaitGroup
	var mu sync.Mutex
	applied, refused := 0, 0
	for n := range orders {
		wg.Go(func() {
			r, err := c.Fire(t.Context(), paying(keyOf(n+1), fmt.Sprint("P", n), due))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && r.Outcome == fsm.Applied:
				applied++
			case errors.Is(err, fsm.ErrClosed):
				refused++
			default:
				t.Error(r, err)
			}
		})
	}
	require.NoError(t, c.Close(t.Context()))
	wg.Wait()
	require.Equal(t, orders, applied+refused)
	require.Equal(t, fmt.Sprint(applied), s.text(`SELECT count(*)::text FROM order_facts`))
}
