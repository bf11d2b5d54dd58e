package shop_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// faulty is a locker that runs its function or not, and says what the test wants.
type faulty struct {
	runs bool
	err  error

	mu    sync.Mutex
	names []string
}

func (f *faulty) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	f.mu.Lock()
	f.names = append(f.names, name)
	f.mu.Unlock()
	if !f.runs {
		return f.err
	}
	gone, lose := context.WithCancelCause(ctx)
	lose(f.err) // a lock that is lost at once
	return errors.Join(fn(gone, lock.NewHeld(name, 1)), f.err)
}

// Whatever becomes of the lock, a callback is settled, and once.
func TestNoCallbackIsLostWithTheLock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turn string
		lock *faulty
	}{
		{"held", &faulty{runs: true}},
		{"late", &faulty{err: lock.ErrNotAcquired}},
		{"late", &faulty{err: context.DeadlineExceeded}},
		{"away", &faulty{err: lock.ErrUnavailable}},
		{"lost", &faulty{runs: true, err: lock.ErrLost}},
		{"wrong", &faulty{err: errors.New("a locker without its client")}},
	} {
		t.Run(c.turn, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(config *shop.Config) { config.Lock = c.lock })
			b.paid(orderA, "p-1")
			b.told("Replayed", paymentOf(orderA, "p-1", 10050))
			require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
			require.Equal(t, []string{"order:" + orderA, "order:" + orderA}, c.lock.names)
			require.Equal(t, []shop.TurnCount{{Turn: c.turn, Count: 2}}, b.service.Counters().Turns)
		})
	}
}

// A notice that is refused before it is settled asks for no lock.
func TestRefusedCallbackAsksForNoLock(t *testing.T) {
	t.Parallel()
	asked := &faulty{runs: true}
	b := newBench(t, func(config *shop.Config) { config.Lock = asked })
	b.is(http.StatusUnauthorized, b.do("POST", "/callbacks/standard", paymentOf(orderA, "p-1", 10050)))
	b.is(http.StatusBadRequest, b.deliver(`{"id":"evt_1","type":"payment.failed","data":{"order_id":"x"}}`))
	b.told("Ignored", `{"id":"evt_1","type":"payout.created"}`)
	require.Empty(t, asked.names)
	require.Empty(t, b.service.Counters().Turns)
}

// counting counts how many hold the locks of another locker at once.
type counting struct {
	lock.Locker
	mu        sync.Mutex
	now, most int
}

func (c *counting) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	return c.Locker.With(ctx, name, func(ctx context.Context, held lock.Held) error {
		c.mu.Lock()
		c.now++
		c.most = max(c.most, c.now)
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			c.now--
			c.mu.Unlock()
		}()
		return fn(ctx, held)
	})
}

// onPostgres gives the bench locks of PostgreSQL, on a pool of their own.
func onPostgres(t *testing.T, into **counting) func(*shop.Config) {
	return func(config *shop.Config) {
		own := testdb.New(t, testdb.WithMigrations(migrations.FS), testdb.WithMaxConns(4))
		locker, err := lock.NewPostgres(own, lock.Config{MaxHold: time.Minute})
		require.NoError(t, err)
		*into = &counting{Locker: locker}
		config.Lock = *into
	}
}

// Of 20 tellings at once one is at the order; the others wait their turn.
func TestCallbacksOfAnOrderTakeTurns(t *testing.T) {
	t.Parallel()
	var locks *counting
	b := newBench(t, onPostgres(t, &locks))
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	require.Equal(t, map[any]int{"Applied": 1, "Replayed": 19}, b.storm(20, paymentOf(orderA, "p-1", 10050)))
	require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
	require.Equal(t, 1, locks.most)
	require.Equal(t, []shop.TurnCount{{Turn: "held", Count: 20}}, b.service.Counters().Turns)
}

// storm tells one notice n times at once, and counts the outcomes.
func (b *bench) storm(n int, body string) map[any]int {
	b.t.Helper()
	outcomes := make([]any, n)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			if r := b.deliver(body); r.status == http.StatusOK {
				outcomes[i] = r.body["outcome"]
			}
		})
	}
	wg.Wait()
	counted := map[any]int{}
	for _, o := range outcomes {
		counted[o]++
	}
	return counted
}
