package fsmotel

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawl-go/pawl/fsm"
)

// Ran returns what counts the batches of a coalescer of an event: it is for
// [fsm.Coalescing.Ran].
func (t *Telemetry) Ran(machine, event string) func(fsm.Coalesced) {
	n := named{machine, event}
	of := t.set(n, n.attributes)
	return func(c fsm.Coalesced) {
		t.coalescerCalls.Record(context.Background(), int64(c.Calls), of)
		t.coalescerWait.Record(context.Background(), c.Waited.Seconds(), of)
	}
}

// WatchCoalescer reads a coalescer's statistics, by its method Stats, each time that
// metrics are collected; one of an event a program. The caller unregisters it, before
// it closes the coalescer or after. The error is the meter's.
func (t *Telemetry) WatchCoalescer(machine, event string, stats func() fsm.CoalescerStats) (metric.Registration, error) {
	m := maker{meter: t.meter}
	waiting := m.gauge("pawl.coalescer.waiting", "{call}", "Calls that wait in a coalescer, or are under way.")
	calls := m.total("pawl.coalescer.calls", "{call}", "Calls of a coalescer, by how they ended.")
	doubts := m.total("pawl.coalescer.doubts", "{call}", "Answered calls of which their batch, or their caller who left, does not know what they did.")
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	set := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(named{machine, event}.attributes(), more...)...))
	}
	all, answered, unknown, abandoned := set(), set(endKey.String("answered")), set(endKey.String("unknown")), set(endKey.String("abandoned"))
	cancelled, refused, closed := set(endKey.String("cancelled")), set(endKey.String("refused")), set(endKey.String("closed"))
	return t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := stats()
		o.ObserveInt64(waiting, int64(s.Waiting), all)
		o.ObserveInt64(calls, s.Calls, answered)
		o.ObserveInt64(calls, s.Cancelled, cancelled)
		o.ObserveInt64(calls, s.Refused, refused)
		o.ObserveInt64(calls, s.Closed, closed)
		o.ObserveInt64(doubts, s.Unknown, unknown)
		o.ObserveInt64(doubts, s.Abandoned, abandoned)
		return nil
	}, waiting, calls, doubts)
}

// WatchFront reads how a consumer's front in Redis does each time that metrics are
// collected: counts is a function around consumeredis.Front.Counts. Failures and
// skipped calls are those of which PostgreSQL did the work.
func (t *Telemetry) WatchFront(consumer string, counts func() (hits, misses, failures, skipped int64)) (metric.Registration, error) {
	m := maker{meter: t.meter}
	calls := m.total("pawl.consumer.front", "{call}", "Keys that Redis was asked for, by what it knew, and calls that it did not answer.")
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	set := func(end string) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(consumerKey.String(consumer), endKey.String(end)))
	}
	hit, miss, failed, skipped := set("hit"), set("miss"), set("failed"), set("skipped")
	return t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		h, m, f, s := counts()
		o.ObserveInt64(calls, h, hit)
		o.ObserveInt64(calls, m, miss)
		o.ObserveInt64(calls, f, failed)
		o.ObserveInt64(calls, s, skipped)
		return nil
	}, calls)
}

// WatchPool reads a pool's statistics each time that metrics are collected, under the
// names of semantic conventions where there are any.
func (t *Telemetry) WatchPool(name string, pool *pgxpool.Pool) (metric.Registration, error) {
	if pool == nil {
		return nil, errors.Join(fsm.ErrArgument, errors.New("no pool"))
	}
	m := maker{meter: t.meter}
	count := m.level("db.client.connection.count", "{connection}", "Connections of a pool, by state.")
	most := m.level("db.client.connection.max", "{connection}", "The most connections of a pool.")
	waits := m.total("pawl.pool.waits", "{acquire}", "Acquires that found no free connection, and had one in the end.")
	left := m.total("pawl.pool.cancelled", "{acquire}", "Acquires whose caller left before there was a connection.")
	waited := m.totalSeconds("pawl.pool.wait.duration", "How long acquires waited for the connection that they had in the end, in all.")
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	of := poolKey.String(name)
	all := metric.WithAttributeSet(attribute.NewSet(of))
	used := metric.WithAttributeSet(attribute.NewSet(of, connKey.String("used")))
	idle := metric.WithAttributeSet(attribute.NewSet(of, connKey.String("idle")))
	return t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := pool.Stat()
		o.ObserveInt64(count, int64(s.AcquiredConns()), used)
		o.ObserveInt64(count, int64(s.IdleConns()), idle)
		o.ObserveInt64(most, int64(s.MaxConns()), all)
		o.ObserveInt64(waits, s.EmptyAcquireCount(), all)
		o.ObserveInt64(left, s.CanceledAcquireCount(), all)
		o.ObserveFloat64(waited, s.EmptyAcquireWaitTime().Seconds(), all)
		return nil
	}, count, most, waits, left, waited)
}
