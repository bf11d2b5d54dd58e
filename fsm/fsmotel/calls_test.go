package fsmotel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fsmotel"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
)

func paying(no string, cents int64) order.PaymentSucceededParams {
	return order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents}
}

func TestCallsAreCountedAndTraced(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	for range 2 {
		_, err := order.Pay(s.ctx, s.pool, orderA, fsm.RequestID("r-1"))
		require.NoError(t, err)
	}
	_, err := order.Ship(s.ctx, s.pool, orderA)
	require.NoError(t, err)
	_, err = order.Pay(s.ctx, s.pool, orderB)
	require.ErrorIs(t, err, fsm.ErrNotFound)
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = order.Cancel(s.ctx, tx, orderA)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = s.pool.Exec(t.Context(), "ALTER TABLE orders ADD CONSTRAINT never CHECK (status <> 'PAID')")
	require.NoError(t, err)
	_, err = order.PaymentSucceeded(s.ctx, s.pool, orderA, paying("p-1", 4242))
	require.ErrorIs(t, err, fsm.ErrNothingDone)

	points := s.read()
	require.Equal(t, map[string]float64{
		"pawl.event=pay pawl.machine=order pawl.outcome=Applied pawl.provisional=false":                  1,
		"pawl.event=pay pawl.machine=order pawl.outcome=Replayed pawl.provisional=false":                 1,
		"pawl.event=ship pawl.machine=order pawl.outcome=Rejected pawl.provisional=false":                1,
		"error.type=not_found pawl.event=pay pawl.machine=order pawl.provisional=false":                  1,
		"pawl.event=cancel pawl.machine=order pawl.outcome=Applied pawl.provisional=true":                1,
		"error.type=nothing_done pawl.event=payment_succeeded pawl.machine=order pawl.provisional=false": 1,
	}, some(points, "pawl.calls"))
	require.Equal(t, map[string]float64{
		"pawl.event=pay pawl.machine=order": 3, "pawl.event=ship pawl.machine=order": 1,
		"pawl.event=cancel pawl.machine=order": 1, "pawl.event=payment_succeeded pawl.machine=order": 1,
	}, some(points, "pawl.call.duration"))
	require.Empty(t, some(points, "pawl.call.reruns"))

	require.Equal(t, []string{
		"Unset  pawl.coalesced=false pawl.event=pay pawl.from=PENDING pawl.machine=order pawl.outcome=Applied pawl.provisional=false pawl.request_id=r-1 pawl.statements=1 pawl.to=PAYING pawl.version=2",
		"Unset  pawl.coalesced=false pawl.event=pay pawl.from=PAYING pawl.machine=order pawl.outcome=Replayed pawl.provisional=false pawl.request_id=r-1 pawl.statements=1 pawl.to=PAYING pawl.version=2",
		"Unset  error.type=not_found pawl.coalesced=false pawl.event=pay pawl.machine=order pawl.provisional=false pawl.statements=1",
	}, s.spansOf("order pay"), "what is not there is no failure of the service")
	require.Equal(t, []string{
		"Error nothing_done db.response.status_code=23514 error.type=nothing_done pawl.coalesced=false pawl.event=payment_succeeded pawl.machine=order pawl.provisional=false pawl.statements=1",
	}, s.spansOf("order payment_succeeded"))
}

// A call that waited for another, and was raced by it, says so.
func TestARacedCallIsCountedAndTraced(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	held, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = order.Cancel(t.Context(), held, orderA)
	require.NoError(t, err)
	done := make(chan struct{})
	var r order.Result
	var lost error
	go func() {
		defer close(done)
		r, lost = order.Pay(s.ctx, s.pool, orderA)
	}()
	s.whenBlocked(1, done)
	require.NoError(t, held.Commit(t.Context()))
	<-done
	require.NoError(t, lost)
	require.Equal(t, fsm.Rejected, r.Outcome)
	require.Equal(t, map[string]float64{"pawl.event=pay pawl.machine=order": 1}, some(s.read(), "pawl.call.reruns"))
	spans := s.traces.Ended()
	require.Len(t, spans, 1)
	require.Len(t, spans[0].Events(), 1)
	require.Equal(t, "raced", spans[0].Events()[0].Name)
	require.Contains(t, s.spansOf("order pay")[0], " pawl.statements=2 ")
}

func TestASpanIsAroundThen(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	_, err := order.Pay(s.ctx, s.pool, orderA, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
		_, err := order.Cancel(ctx, tx, orderA)
		return err
	}))
	require.NoError(t, err)
	spans := s.traces.Ended()
	require.Len(t, spans, 2)
	require.Equal(t, "order cancel", spans[0].Name())
	require.Equal(t, spans[1].SpanContext().SpanID(), spans[0].Parent().SpanID())
}

// Whoever wants keys in traces says so, and takes them from the row.
func TestSpansHaveWhatTheProgramAdds(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(_ context.Context, e fsm.Ended) []attribute.KeyValue {
		if row, is := e.Row.(order.Row); is {
			return []attribute.KeyValue{attribute.String("order_id", string(row.OrderID))}
		}
		return nil
	})
	s.orders(orderA)
	_, err := order.Pay(s.ctx, s.pool, orderA)
	require.NoError(t, err)
	_, err = order.Pay(s.ctx, s.pool, orderB)
	require.Error(t, err)
	spans := s.spansOf("order pay")
	require.Contains(t, spans[0], " order_id="+string(orderA)+" ")
	require.NotContains(t, spans[1], "order_id")
	for name := range s.read() {
		require.NotContains(t, name, "order_id")
	}
}

func TestBatchesAreCountedByTheirCalls(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB)
	items := []order.PaymentSucceededItem{
		{Key: orderA, Params: paying("p-1", 4242)}, {Key: orderA, Params: paying("p-1", 4242)},
		{Key: orderB, Params: paying("p-2", 1)}, {Key: orderC, Params: paying("p-3", 4242)}, {Key: "none", Params: paying("p-4", 4242)},
	}
	_, err := order.PaymentSucceededBatch(s.ctx, s.pool, items, fsm.RequestID("r-2"))
	require.NoError(t, err)
	points := s.read()
	require.Equal(t, map[string]float64{
		"pawl.event=payment_succeeded pawl.machine=order pawl.outcome=Applied pawl.provisional=false":     1,
		"pawl.event=payment_succeeded pawl.machine=order pawl.outcome=Replayed pawl.provisional=false":    1,
		"pawl.event=payment_succeeded pawl.machine=order pawl.outcome=Compensated pawl.provisional=false": 1,
		"error.type=not_found pawl.event=payment_succeeded pawl.machine=order pawl.provisional=false":     1,
		"error.type=argument pawl.event=payment_succeeded pawl.machine=order pawl.provisional=false":      1,
	}, some(points, "pawl.calls"))
	for _, metric := range []string{"pawl.batch.size", "pawl.batch.statements", "pawl.batch.duration"} {
		require.Equal(t, map[string]float64{"pawl.event=payment_succeeded pawl.machine=order": 1}, some(points, metric), metric)
	}
	require.Empty(t, some(points, "pawl.call.duration"))
	require.Equal(t, []string{
		"Unset  pawl.calls=5 pawl.coalesced=false pawl.event=payment_succeeded pawl.machine=order pawl.provisional=false pawl.request_id=r-2 pawl.statements=1",
	}, s.spansOf("order payment_succeeded batch"))
}

func TestACoalescersCallsAreCountedOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	c, err := fsm.NewCoalescer(s.ctx, s.pool, order.PaymentSucceededBatch, fsm.Coalescing{Ran: s.Ran("order", "payment_succeeded")})
	require.NoError(t, err)
	watched, err := s.WatchCoalescer("order", "payment_succeeded", c.Stats)
	require.NoError(t, err)
	for range 2 {
		_, err = c.Fire(s.ctx, order.PaymentSucceededItem{Key: orderA, Params: paying("p-1", 4242)})
		require.NoError(t, err)
	}
	require.NoError(t, c.Close(t.Context())) // the last batch has been told, too
	_, err = c.Fire(s.ctx, order.PaymentSucceededItem{Key: orderA, Params: paying("p-1", 4242)})
	require.ErrorIs(t, err, fsm.ErrClosed)
	points := s.read()
	const event = "pawl.event=payment_succeeded pawl.machine=order"
	require.Equal(t, map[string]float64{
		event + " pawl.outcome=Applied pawl.provisional=false": 1, event + " pawl.outcome=Replayed pawl.provisional=false": 1,
		"error.type=closed " + event + " pawl.provisional=false": 1,
	}, some(points, "pawl.calls"), "and not as those of its batches again")
	require.Equal(t, map[string]float64{event: 3}, some(points, "pawl.call.duration"))
	for _, metric := range []string{"pawl.batch.size", "pawl.batch.statements", "pawl.coalescer.batch.size", "pawl.coalescer.wait.duration"} {
		require.Equal(t, map[string]float64{event: 2}, some(points, metric), metric)
	}
	ends := map[string]float64{}
	for end, n := range map[string]float64{"answered": 2, "cancelled": 0, "refused": 0, "closed": 1} {
		ends["pawl.end="+end+" "+event] = n
	}
	require.Equal(t, ends, some(points, "pawl.coalescer.calls"))
	require.Equal(t, map[string]float64{event: 0}, some(points, "pawl.coalescer.waiting"))
	require.Equal(t, map[string]float64{"pawl.end=unknown " + event: 0, "pawl.end=abandoned " + event: 0}, some(points, "pawl.coalescer.doubts"))
	require.NoError(t, watched.Unregister())
	require.Empty(t, some(s.read(), "pawl.coalescer.waiting"))
}

func TestSweepsAreCounted(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB)
	later := time.Now().Add(time.Hour)
	sweeper := &fsm.Sweeper{DB: s.pool, Sweeps: order.Sweeps(), Page: fsm.SweepPage{Now: &later}}
	moved, err := sweeper.Once(s.ctx)
	require.NoError(t, err)
	require.Equal(t, 2, moved)
	points := s.read()
	require.Equal(t, map[string]float64{"pawl.event=expire pawl.machine=order": 2}, some(points, "pawl.sweep.rows"))
	require.Empty(t, some(points, "pawl.sweep.errors"))

	_, err = s.pool.Exec(t.Context(), "ALTER TABLE payments RENAME TO gone")
	require.NoError(t, err)
	sweeper.Sweeps = payment.Sweeps()[:1]
	_, err = sweeper.Once(s.ctx)
	require.Error(t, err)
	require.Equal(t, map[string]float64{"error.type=nothing_done pawl.event=query pawl.machine=payment": 1}, some(s.read(), "pawl.sweep.errors"))
}

func TestRetriesOfTransactionsAreCounted(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	held, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = order.Pay(t.Context(), held, orderA)
	require.NoError(t, err)
	ctx, span := s.tracer.Tracer("program").Start(s.ctx, "request")
	tries := 0
	require.NoError(t, fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		if tries++; tries == 2 {
			require.NoError(t, held.Commit(ctx))
		}
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '10ms'"); err != nil {
			return err
		}
		_, err := order.Cancel(ctx, tx, orderA)
		return err
	}))
	span.End()
	require.Equal(t, 2, tries)
	require.Equal(t, map[string]float64{"error.type=55P03": 1}, some(s.read(), "pawl.transaction.retries"))
	spans := s.traces.Ended()
	last := spans[len(spans)-1]
	require.Equal(t, "retry", last.Events()[0].Name)
	require.Equal(t, "error.type=55P03 pawl.attempt=1", strings.TrimSpace(named("", attribute.NewSet(last.Events()[0].Attributes...))))
}

// What is told of a business names no row, amount or person of it, of errors neither.
func TestNothingOfTheBusinessIsTold(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	secrets := []string{string(orderA)[:8], "4242", "p-secret", "ann", "because"}
	options := []fsm.Option{fsm.Actor("ann"), fsm.Reason("because"), fsm.RequestID("r-1")}
	_, err := order.PaymentSucceeded(s.ctx, s.pool, orderA, paying("p-secret", 1), options...)
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'row % of ann, p-secret', NEW.order_id; END $$`)
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), "CREATE TRIGGER tell BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION tell()")
	require.NoError(t, err)
	_, err = order.PaymentSucceeded(s.ctx, s.pool, orderA, paying("p-secret-2", 4242), options...)
	require.ErrorContains(t, err, "p-secret")
	_, err = order.PaymentSucceededBatch(s.ctx, s.pool, []order.PaymentSucceededItem{{Key: orderA, Params: paying("p-secret-3", 4242)}}, options...)
	require.NoError(t, err)

	var told []string
	for name := range s.read() {
		told = append(told, name)
	}
	for _, span := range s.traces.Ended() {
		told = append(told, named(span.Name()+" "+span.Status().Description, attribute.NewSet(span.Attributes()...)))
		for _, e := range span.Events() {
			told = append(told, named(e.Name, attribute.NewSet(e.Attributes...)))
		}
	}
	require.GreaterOrEqual(t, len(told), 6)
	for _, text := range told {
		for _, secret := range secrets {
			require.NotContains(t, text, secret)
		}
	}
}

// Without providers, those of package otel are taken: here, those that do nothing.
func TestGlobalProvidersAreTheDefault(t *testing.T) {
	t.Parallel()
	telemetry, err := fsmotel.New(fsmotel.Config{})
	require.NoError(t, err)
	require.NotNil(t, otel.GetMeterProvider())
	_, err = order.Pay(telemetry.Context(t.Context()), nil, orderA)
	require.ErrorIs(t, err, fsm.ErrArgument)
}
