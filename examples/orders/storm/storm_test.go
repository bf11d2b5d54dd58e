package storm

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	return testdb.New(t, testdb.WithMigrations(migrations.FS), testdb.WithMaxConns(8))
}

func newProvider(t *testing.T) *Provider {
	t.Helper()
	p, err := NewProvider()
	require.NoError(t, err)
	return p
}

// onShop is a storm on the real service.
func onShop(t *testing.T, script *Script) Options {
	t.Helper()
	pool, provider, clock := newDatabase(t), newProvider(t), NewClock(start)
	standard, stripe, err := provider.Verifiers()
	require.NoError(t, err)
	service, err := shop.New(shop.Config{
		Pool: pool, Clock: clock.Now, Standard: standard, Stripe: stripe, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	sweeper := service.Sweeper()
	return Options{Script: script, Provider: provider, Clock: clock, Workers: 8, Target: Target{
		Name: "pawl", Pool: pool, Handler: service.Handler(), Admin: service.Admin(),
		Sweep: func(ctx context.Context) error { _, err := sweeper.Once(ctx); return err },
	}}
}

func onNaive(t *testing.T, script *Script) (Options, *Naive) {
	t.Helper()
	pool, provider, clock := newDatabase(t), newProvider(t), NewClock(start)
	standard, stripe, err := provider.Verifiers()
	require.NoError(t, err)
	naive, closeNaive, err := NewNaive(t.Context(), pool, clock.Now, standard, stripe)
	require.NoError(t, err)
	t.Cleanup(closeNaive)
	return Options{Script: script, Provider: provider, Clock: clock, Workers: 1, Target: naive.Target()}, naive
}

func broken(r *Report) map[string]int {
	n := map[string]int{}
	for _, p := range r.Promises {
		if p.Violations > 0 {
			n[p.Name] = p.Violations
		}
	}
	return n
}

func TestShopKeepsEveryPromiseInASmallStorm(t *testing.T) {
	t.Parallel()
	o := onShop(t, NewScript(60, 1))
	var lastDone, lastPlanned int
	o.Progress = func(_ string, done, planned int) { lastDone, lastPlanned = done, planned }
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, broken(r), "%+v", r.Promises)
	require.Len(t, r.Promises, len(promises)+2)
	require.Positive(t, r.Money.In)
	require.Equal(t, r.Money.In, r.Money.Kept+r.Money.Owed)
	require.Equal(t, r.Money.Owed, r.Money.Late+r.Money.Second+r.Money.Refunds)
	require.Equal(t, lastDone, lastPlanned)

	// Everything that can become of an event did, Stale and NotYet too.
	seen := map[fsm.Outcome]bool{}
	for _, o := range r.Outcomes {
		seen[o.Outcome] = true
	}
	for _, c := range outcomeColumns {
		require.True(t, seen[c.outcome], string(c.outcome))
	}
	require.Contains(t, r.Outcomes, Outcome{eventCreate, fsm.Applied, o.Script.Orders()})
	require.Equal(t, r.Speed.First+r.Speed.Repeated > 0, r.Speed.FirstP99 > 0)
}

func TestStormRefusesADatabaseWithOrders(t *testing.T) {
	t.Parallel()
	o := onShop(t, NewScript(1, 1))
	_, err := order.Create(t.Context(), o.Target.Pool, order.CreateParams{
		Key: "00000000-0000-4000-8000-00000000000a", CustomerID: "ann", Sku: "mug", Quantity: 1, TotalCents: 100,
	})
	require.NoError(t, err)
	_, err = Run(t.Context(), o)
	require.ErrorIs(t, err, ErrNotEmpty)
}

func TestStormStopsWithItsContext(t *testing.T) {
	t.Parallel()
	o := onShop(t, NewScript(60, 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(string, int, int) { cancel() }
	_, err := Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
}

// Told one thing after the other, the handler that checks and then acts is right
// in everything: what it breaks in a storm, it breaks by concurrency alone.
func TestCheckThenActIsRightWithoutConcurrency(t *testing.T) {
	t.Parallel()
	o, _ := onNaive(t, NewScript(60, 1))
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, broken(r), "%+v", r.Promises)
	require.Empty(t, r.Outcomes)
}

func TestCheckThenActBreaksInAStagedRace(t *testing.T) {
	t.Parallel()
	script := scriptOf(story{orders: []int{0}, steps: []step{say(wavePayments, order.EventPaymentSucceeded, 0, "p", 10_000, 2)}})
	o, naive := onNaive(t, script)
	o.Workers = 8 // two deliveries and the looks at the deadlines
	// Each delivery has checked before any acts.
	arrived, go1 := make(chan struct{}, 2), make(chan struct{})
	naive.checked = func() {
		arrived <- struct{}{}
		<-go1
	}
	go func() {
		<-arrived
		<-arrived
		close(go1)
	}()
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, map[string]int{
		"paid once": 1,
		// The order's pieces left twice, and the shelf shows it.
		"stock once":                             2,
		"points once":                            1,
		"each fact once":                         1,
		"one outbox row for each emit":           1,
		"history without gaps, equal to its row": 1,
		"every answer as foreseen":               1,
	}, broken(r))

	// The same race on the shop.
	r, err = Run(t.Context(), onShop(t, script))
	require.NoError(t, err)
	require.Empty(t, broken(r))
}

func TestEachPromiseIsSeenBroken(t *testing.T) {
	t.Parallel()
	o := onShop(t, NewScript(60, 1))
	l, _, err := run(t.Context(), o)
	require.NoError(t, err)
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			tx, err := o.Target.Pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
			_, err = tx.Exec(t.Context(), "ALTER TABLE orders DISABLE TRIGGER USER")
			require.NoError(t, err)
			for _, sql := range c.sql {
				_, err = tx.Exec(t.Context(), sql)
				require.NoError(t, err)
			}
			r, err := examine(t.Context(), tx, o.Script, l)
			require.NoError(t, err)
			require.Equal(t, c.broken, broken(r), "%+v", r.Promises)
		})
	}
	t.Run("an answer too many", func(t *testing.T) {
		lied := *l
		lied.told = maps.Clone(l.told)
		lied.told[answer{question{order: 0, event: order.EventShip}, toldDone}]++
		r, err := examine(t.Context(), o.Target.Pool, o.Script, &lied)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"every answer as foreseen": 1}, broken(r))
	})
	covered := map[string]bool{"every answer as foreseen": true}
	for _, c := range damages {
		for name := range c.broken {
			covered[name] = true
		}
	}
	for _, p := range promises {
		require.True(t, covered[p.name], p.name)
	}
}
