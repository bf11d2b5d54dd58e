package fsmotel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-go/pawl/fsm"
)

// scope names the instrumentation to OpenTelemetry.
const scope = "github.com/pawl-go/pawl/fsm/fsmotel"

// Config says where telemetry goes. The zero value is usable.
type Config struct {
	// Meters and Traces are nil for the providers of package otel.
	Meters metric.MeterProvider
	Traces trace.TracerProvider
	// Spans gives a call's span more attributes, such as a key that it takes from
	// the row; nil for none. It is called for spans that are recorded, when the call
	// has ended. Think of who may read traces, and for how long.
	Spans func(ctx context.Context, e fsm.Ended) []attribute.KeyValue
}

// Telemetry has the instruments. Make one a program: two of one provider count
// everything together. It is safe for concurrent use.
type Telemetry struct {
	meter    metric.Meter
	tracer   trace.Tracer
	spans    func(ctx context.Context, e fsm.Ended) []attribute.KeyValue
	observer fsm.Observer
	sets     sync.Map // attribute sets by what they are made of

	calls, reruns, retries, sweptRows, sweepErrors metric.Int64Counter
	delivered, relayFailures, verdicts, consumed   metric.Int64Counter
	commands, notices, locks, fallbacks            metric.Int64Counter
	callDuration, batchDuration, coalescerWait     metric.Float64Histogram
	publishDuration, lockWait, lockHold            metric.Float64Histogram
	batchSize, batchStatements, coalescerCalls     metric.Int64Histogram
}

// New returns the telemetry. The error joins what the meter refused.
func New(c Config) (*Telemetry, error) {
	if c.Meters == nil {
		c.Meters = otel.GetMeterProvider()
	}
	if c.Traces == nil {
		c.Traces = otel.GetTracerProvider()
	}
	t := &Telemetry{meter: c.Meters.Meter(scope), tracer: c.Traces.Tracer(scope), spans: c.Spans}
	m := maker{meter: t.meter}
	t.instruments(&m)
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	t.observer = fsm.Observer{Begun: t.begun, Raced: t.raced, Ended: t.ended, Swept: t.swept, Retried: t.retried}
	return t, nil
}

// Context returns a context whose calls are counted and traced: give it to the
// server's BaseContext, and to what runs in the background. See [fsm.WithObserver].
func (t *Telemetry) Context(ctx context.Context) context.Context {
	return fsm.WithObserver(ctx, &t.observer)
}

func (t *Telemetry) instruments(m *maker) {
	t.calls = m.counter("pawl.calls", "{call}", "Calls by their answer: an outcome, or the kind of an error.")
	t.callDuration = m.seconds("pawl.call.duration", "How long single calls, and those of coalescers, took.")
	t.reruns = m.counter("pawl.call.reruns", "{call}", "Calls whose statement was raced by others at the row, and run again.")
	t.retries = m.counter("pawl.transaction.retries", "{retry}", "Transactions that RunTx ran again.")
	t.batchSize = m.sizes("pawl.batch.size", "{call}", "Calls of a batch.")
	t.batchStatements = m.sizes("pawl.batch.statements", "{statement}", "Statements of a batch: more than rows, races and pages need are halves that isolate what the database refused.")
	t.batchDuration = m.seconds("pawl.batch.duration", "How long batches took.")
	t.coalescerCalls = m.sizes("pawl.coalescer.batch.size", "{call}", "Calls that a coalescer served by one batch.")
	t.coalescerWait = m.seconds("pawl.coalescer.wait.duration", "How long the first call of a batch had waited for it.")
	t.sweptRows = m.counter("pawl.sweep.rows", "{row}", "Rows that deadlines moved.")
	t.sweepErrors = m.counter("pawl.sweep.errors", "{error}", "Pages of a sweep that failed.")
	t.delivered = m.counter("pawl.relay.delivered", "{message}", "Messages of the outbox that a publisher took.")
	t.relayFailures = m.counter("pawl.relay.failures", "{failure}", "Messages that were not taken, and rounds that failed.")
	t.publishDuration = m.seconds("pawl.relay.publish.duration", "How long the publisher took for a message, taken or not.")
	t.verdicts = m.counter("pawl.inbox.verdicts", "{event}", "Events of callbacks, by what came of them.")
	t.consumed = m.counter("pawl.consumer.deliveries", "{message}", "Deliveries to consumers, by what came of them.")
	t.commands = m.counter("pawl.commands", "{call}", "Calls of commands, by what came of them.")
	t.notices = m.counter("pawl.attempt.notices", "{notice}", "What happened to calls to providers.")
	t.locks = m.counter("pawl.lock.requests", "{request}", "Requests for locks, by what came of them.")
	t.lockWait = m.seconds("pawl.lock.wait.duration", "How long a lock was waited for, got or not.")
	t.lockHold = m.seconds("pawl.lock.hold.duration", "How long a lock was held.")
	t.fallbacks = m.counter("pawl.fallbacks", "{fallback}", "Failures of Redis after which PostgreSQL did the work.")
}

// maker makes instruments, and keeps what went wrong.
type maker struct {
	meter metric.Meter
	errs  []error
}

var (
	// secondsBounds are those that semantic conventions ask for with db.client.operation.duration,
	// and finer ones, since most calls take less than the first of them.
	secondsBounds = []float64{0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10}
	sizesBounds   = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000}
)

func (m *maker) counter(name, unit, text string) metric.Int64Counter {
	i, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) seconds(name, text string) metric.Float64Histogram {
	i, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(secondsBounds...))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) sizes(name, unit, text string) metric.Int64Histogram {
	i, err := m.meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(sizesBounds...))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) gauge(name, unit, text string) metric.Int64ObservableGauge {
	i, err := m.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) level(name, unit, text string) metric.Int64ObservableUpDownCounter {
	i, err := m.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) age(name, text string) metric.Float64ObservableGauge {
	i, err := m.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) total(name, unit, text string) metric.Int64ObservableCounter {
	i, err := m.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

func (m *maker) totalSeconds(name, text string) metric.Float64ObservableCounter {
	i, err := m.meter.Float64ObservableCounter(name, metric.WithUnit("s"), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return i
}

// set is the attributes of a measurement, made once for each key. Keys have few
// values: they are labels.
func (t *Telemetry) set(key any, list func() []attribute.KeyValue) metric.MeasurementOption {
	if known, ok := t.sets.Load(key); ok {
		return known.(metric.MeasurementOption)
	}
	made, _ := t.sets.LoadOrStore(key, metric.WithAttributeSet(attribute.NewSet(list()...)))
	return made.(metric.MeasurementOption)
}
