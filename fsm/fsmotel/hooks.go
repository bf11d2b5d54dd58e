package fsmotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/relay"
)

// labels is a label set of one metric, by its values.
type labels struct {
	metric, a, b, c string
	flag            bool
}

// Delivered counts messages that were delivered: it is for [relay.Relay.Delivered].
func (t *Telemetry) Delivered(messages []relay.Message) {
	counts := map[labels]int64{}
	for _, m := range messages {
		counts[labels{metric: "delivered", a: m.Machine, b: m.Topic}]++
	}
	for l, n := range counts {
		t.delivered.Add(context.Background(), n, t.set(l, func() []attribute.KeyValue {
			return []attribute.KeyValue{machineKey.String(l.a), topicKey.String(l.b)}
		}))
	}
}

// RelayFailed counts messages that were not taken, by machine and topic, and rounds
// that failed, by kind: it is for [relay.Relay.Failed].
func (t *Telemetry) RelayFailed(err error) {
	l := labels{metric: "relayFailures", c: errorType(err)}
	if refused := (*relay.PublishError)(nil); errors.As(err, &refused) {
		l.a, l.b, l.c, l.flag = refused.Message.Machine, refused.Message.Topic, "not_taken", refused.Parked
	}
	t.relayFailures.Add(context.Background(), 1, t.set(l, func() []attribute.KeyValue {
		return []attribute.KeyValue{machineKey.String(l.a), topicKey.String(l.b), errorKey.String(l.c), parkedKey.Bool(l.flag)}
	}))
}

// Publisher times p, and has a span for each message: p's context carries it, so that
// a publisher of p's can hand it on with the message. The span begins a trace: the
// outbox has no place for that of the call.
func (t *Telemetry) Publisher(p relay.Publisher) relay.Publisher {
	return relay.PublisherFunc(func(ctx context.Context, m relay.Message) error {
		set := []attribute.KeyValue{machineKey.String(m.Machine), topicKey.String(m.Topic)}
		ctx, span := t.tracer.Start(ctx, "publish "+m.Topic, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
			append(set, eventKey.String(m.Event), versionKey.Int64(m.Version))...,
		))
		defer span.End()
		begun := time.Now()
		err := p.Publish(ctx, m)
		l := labels{metric: "publish", a: m.Machine, b: m.Topic, c: errorType(err)}
		t.publishDuration.Record(ctx, time.Since(begun).Seconds(), t.set(l, func() []attribute.KeyValue {
			if l.c == "" {
				return set
			}
			return append(set[:len(set):len(set)], errorKey.String(l.c))
		}))
		if err != nil {
			span.SetAttributes(failed(err)...)
			span.SetStatus(codes.Error, l.c)
		}
		return err
	})
}

// Told counts the verdicts on callbacks: it is for [inbox.Config.Observe].
func (t *Telemetry) Told(v inbox.Told) {
	l := labels{metric: "verdicts", a: v.Provider, b: string(v.Verdict)}
	t.verdicts.Add(context.Background(), 1, t.set(l, func() []attribute.KeyValue {
		return []attribute.KeyValue{providerKey.String(l.a), verdictKey.String(l.b)}
	}))
}

// Consumed counts deliveries: it is for [consume.Consumer.Observe].
func (t *Telemetry) Consumed(ctx context.Context, r consume.Report) {
	l := labels{metric: "consumed", a: r.Consumer, b: string(r.Outcome), flag: r.Front}
	t.consumed.Add(ctx, 1, t.set(l, func() []attribute.KeyValue {
		return []attribute.KeyValue{consumerKey.String(l.a), outcomeKey.String(l.b), frontKey.Bool(l.flag)}
	}))
}

// Commanded counts the calls of a command: it is for [command.Command.Observe].
func (t *Telemetry) Commanded(name string) func(context.Context, command.Outcome) {
	return func(ctx context.Context, o command.Outcome) {
		l := labels{metric: "commands", a: name, b: string(o)}
		t.commands.Add(ctx, 1, t.set(l, func() []attribute.KeyValue {
			return []attribute.KeyValue{commandKey.String(l.a), outcomeKey.String(l.b)}
		}))
	}
}

// Noticed counts what happens to calls to providers: it is for [attempt.Kind.Notify].
func (t *Telemetry) Noticed(n attempt.Notice) {
	l := labels{metric: "notices", a: n.Kind, b: string(n.What)}
	t.notices.Add(context.Background(), 1, t.set(l, func() []attribute.KeyValue {
		return []attribute.KeyValue{kindKey.String(l.a), whatKey.String(l.b)}
	}))
}

// FellBack returns what counts the failures of Redis after which PostgreSQL did the
// work of part, "lock" or "token" say: it is for lock.Rule.Switched and
// tokenredis.Config.Failed. The count is there from the start, at 0.
func (t *Telemetry) FellBack(part string) func(error) {
	count := func(n int64) {
		l := labels{metric: "fallbacks", a: part}
		t.fallbacks.Add(context.Background(), n, t.set(l, func() []attribute.KeyValue { return []attribute.KeyValue{partKey.String(part)} }))
	}
	count(0)
	return func(error) { count(1) }
}
