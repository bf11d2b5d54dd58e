package fsmotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

var errRefused = errors.New("refused by the test")

func TestTheRelayIsCountedAndTraced(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB)
	for _, key := range []order.Key{orderA, orderB} {
		_, err := order.PaymentSucceeded(t.Context(), s.pool, key, paying("p-"+string(key), 4242))
		require.NoError(t, err)
	}
	var traced atomic.Int32 // keys are published at once
	r := &relay.Relay{
		DB: s.pool, Tries: 1, Delivered: s.Delivered, Failed: s.RelayFailed,
		Publisher: s.Publisher(relay.PublisherFunc(func(ctx context.Context, m relay.Message) error {
			if oteltrace.SpanContextFromContext(ctx).IsValid() {
				traced.Add(1)
			}
			if m.Key == string(orderB) {
				return errRefused
			}
			return nil
		})),
	}
	sent, err := r.Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, sent)
	require.EqualValues(t, 2, traced.Load())
	points := s.read()
	require.Equal(t, map[string]float64{"pawl.machine=order pawl.topic=order_paid": 1}, some(points, "pawl.relay.delivered"))
	require.Equal(t, map[string]float64{"error.type=not_taken pawl.machine=order pawl.parked=true pawl.topic=order_paid": 1}, some(points, "pawl.relay.failures"))
	require.Equal(t, map[string]float64{
		"pawl.machine=order pawl.topic=order_paid": 1, "error.type=_OTHER pawl.machine=order pawl.topic=order_paid": 1,
	}, some(points, "pawl.relay.publish.duration"))
	require.ElementsMatch(t, []string{
		"Unset  pawl.event=payment_succeeded pawl.machine=order pawl.topic=order_paid pawl.version=2",
		"Error _OTHER error.type=_OTHER pawl.event=payment_succeeded pawl.machine=order pawl.topic=order_paid pawl.version=2",
	}, s.spansOf("publish order_paid"))

	s.RelayFailed(fmt.Errorf("relay: %w: begin", fsm.ErrNothingDone))
	require.Contains(t, some(s.read(), "pawl.relay.failures"), "error.type=nothing_done pawl.machine= pawl.parked=false pawl.topic=")
}

func TestDeliveriesToConsumersAreCounted(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	c := &consume.Consumer{DB: s.pool, Name: "mails", Lease: time.Minute, Tries: 1, Observe: s.Consumed}
	fine := func(context.Context, pgx.Tx, consume.Message) error { return nil }
	for range 2 {
		_, err := c.Consume(t.Context(), "k-1", consume.Message{}, fine)
		require.NoError(t, err)
	}
	_, err := c.Consume(t.Context(), "k-2", consume.Message{}, func(context.Context, pgx.Tx, consume.Message) error { return errRefused })
	require.ErrorIs(t, err, consume.ErrDead)
	require.Equal(t, map[string]float64{
		"pawl.consumer=mails pawl.front=false pawl.outcome=Done": 1, "pawl.consumer=mails pawl.front=false pawl.outcome=Duplicate": 1,
		"pawl.consumer=mails pawl.front=false pawl.outcome=Dead": 1,
	}, some(s.read(), "pawl.consumer.deliveries"))

	hits := int64(0)
	_, err = s.WatchFront("mails", func() (int64, int64, int64, int64) { hits++; return hits, 2, 3, 4 })
	require.NoError(t, err)
	require.Equal(t, map[string]float64{
		"pawl.consumer=mails pawl.end=hit": 1, "pawl.consumer=mails pawl.end=miss": 2,
		"pawl.consumer=mails pawl.end=failed": 3, "pawl.consumer=mails pawl.end=skipped": 4,
	}, some(s.read(), "pawl.consumer.front"))
}

// The functions fit where they are for, and count.
func TestOtherHooksCount(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	i, c, k := inbox.Config{Observe: s.Told}, command.Command{Observe: s.Commanded("order.refund")}, attempt.Kind{Notify: s.Noticed}
	i.Observe(inbox.Told{Provider: "stripe", ID: "evt_1", Verdict: inbox.VerdictDone, Reason: "why"})
	i.Observe(inbox.Told{Provider: "stripe", ID: "evt_2", Verdict: inbox.VerdictDone})
	c.Observe(t.Context(), command.Replayed)
	k.Notify(attempt.Notice{Kind: "refund", ID: "a-1", What: attempt.WasTakenOver})
	points := s.read()
	require.Equal(t, map[string]float64{"pawl.provider=stripe pawl.verdict=done": 2}, some(points, "pawl.inbox.verdicts"))
	require.Equal(t, map[string]float64{"pawl.command=order.refund pawl.outcome=Replayed": 1}, some(points, "pawl.commands"))
	require.Equal(t, map[string]float64{"pawl.kind=refund pawl.what=taken over": 1}, some(points, "pawl.attempt.notices"))
}

// away is a locker whose server does not answer.
type away struct{}

func (away) With(context.Context, string, func(context.Context, lock.Held) error) error {
	return lock.ErrUnavailable
}

func TestLocksAreCountedAndTimed(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	short, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Millisecond, Wait: time.Minute})
	require.NoError(t, err)
	l := s.Locker("order", short)
	require.Equal(t, map[string]float64{
		"pawl.end=held pawl.lock=order": 0, "pawl.end=lost pawl.lock=order": 0, "pawl.end=unavailable pawl.lock=order": 0,
	}, some(s.read(), "pawl.lock.requests"))
	require.ErrorIs(t, l.With(t.Context(), "a", func(ctx context.Context, _ lock.Held) error {
		<-ctx.Done()
		return nil
	}), lock.ErrLost)
	require.ErrorIs(t, l.With(t.Context(), "", nil), fsm.ErrArgument)

	long, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Minute, Wait: time.Minute})
	require.NoError(t, err)
	hasty, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Minute, Wait: time.Millisecond})
	require.NoError(t, err)
	l = s.Locker("order", long)
	require.ErrorIs(t, l.With(t.Context(), "b", func(ctx context.Context, _ lock.Held) error {
		require.ErrorIs(t, s.Locker("order", hasty).With(ctx, "b", nil), lock.ErrNotAcquired)
		gone, leave := context.WithCancel(ctx)
		leave()
		require.ErrorIs(t, l.With(gone, "b", nil), context.Canceled)
		return errRefused
	}), errRefused, "an error of the function is none of the lock's")
	require.ErrorIs(t, s.Locker("order", away{}).With(t.Context(), "c", nil), lock.ErrUnavailable)
	require.Panics(t, func() {
		_ = l.With(t.Context(), "d", func(context.Context, lock.Held) error { panic("d") })
	})
	points := s.read()
	require.Equal(t, map[string]float64{
		"pawl.end=held pawl.lock=order": 1, "pawl.end=lost pawl.lock=order": 1, "pawl.end=unavailable pawl.lock=order": 1,
		"pawl.end=busy pawl.lock=order": 1, "pawl.end=cancelled pawl.lock=order": 1, "pawl.end=refused pawl.lock=order": 1,
		"pawl.end=panicked pawl.lock=order": 1,
	}, some(points, "pawl.lock.requests"))
	require.Equal(t, map[string]float64{"pawl.lock=order": 7}, some(points, "pawl.lock.wait.duration"))
	require.Equal(t, map[string]float64{"pawl.lock=order": 3}, some(points, "pawl.lock.hold.duration"))
}

func TestAFallbackIsCounted(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	second, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Minute})
	require.NoError(t, err)
	both, err := lock.Fallback(away{}, second, lock.Rule{Stay: time.Minute, Switched: s.FellBack("lock")})
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"pawl.part=lock": 0}, some(s.read(), "pawl.fallbacks"))
	require.NoError(t, both.With(t.Context(), "a", func(context.Context, lock.Held) error { return nil }))
	require.Equal(t, map[string]float64{"pawl.part=lock": 1}, some(s.read(), "pawl.fallbacks"))
}

func TestThePoolIsWatched(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	_, err := s.WatchPool("main", nil)
	require.ErrorIs(t, err, fsm.ErrArgument)
	_, err = s.WatchPool("main", s.pool)
	require.NoError(t, err)
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	points := s.read()
	const pool = "db.client.connection.pool.name=main"
	require.InDelta(t, 1, points["db.client.connection.count "+pool+" db.client.connection.state=used"], 0)
	require.Contains(t, points, "db.client.connection.count "+pool+" db.client.connection.state=idle")
	require.InDelta(t, float64(s.pool.Config().MaxConns), points["db.client.connection.max "+pool], 0)
	require.Contains(t, points, "pawl.pool.waits "+pool)
	require.Contains(t, points, "pawl.pool.wait.duration "+pool)
	require.False(t, strings.Contains(fmt.Sprint(points), "error"))
}

// Who gives up at an exhausted pool has no connection in the end, and is counted.
func TestWhoGivesUpAtThePoolIsCounted(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	_, err := s.WatchPool("main", s.pool)
	require.NoError(t, err)
	for range s.pool.Config().MaxConns {
		conn, err := s.pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
	}
	const pool = " db.client.connection.pool.name=main"
	before := s.read()
	for range 3 {
		ctx, leave := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := s.pool.Acquire(ctx)
		leave()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	points := s.read()
	require.InDelta(t, 3, points["pawl.pool.cancelled"+pool]-before["pawl.pool.cancelled"+pool], 0)
	require.InDelta(t, before["pawl.pool.waits"+pool], points["pawl.pool.waits"+pool], 0)
}
