package fsmotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-go/pawl/fsm"
)

// named is the label set of an event.
type named struct{ machine, event string }

func (n named) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{machineKey.String(n.machine), eventKey.String(n.event)}
}

func (t *Telemetry) of(c fsm.Observed) metric.MeasurementOption {
	n := named{c.Machine, c.Event}
	return t.set(n, n.attributes)
}

// answered is the label set of an answer.
type answered struct {
	named
	outcome     fsm.Outcome
	kind        string // of an error
	provisional bool
}

func (a answered) attributes() []attribute.KeyValue {
	set := append(a.named.attributes(), provisionalKey.Bool(a.provisional))
	if a.kind != "" {
		return append(set, errorKey.String(a.kind))
	}
	return append(set, outcomeKey.String(string(a.outcome)))
}

// begun starts the span of a call.
func (t *Telemetry) begun(ctx context.Context, c fsm.Observed) context.Context {
	name := c.Machine + " " + c.Event
	set := named{c.Machine, c.Event}.attributes()
	if c.Calls > 0 {
		name += " batch"
		set = append(set, batchKey.Int(c.Calls))
	}
	ctx, _ = t.tracer.Start(ctx, name, trace.WithAttributes(set...)) // of kind internal: its statements are the client's
	return ctx
}

func (t *Telemetry) raced(ctx context.Context, c fsm.Observed, answers int) {
	trace.SpanFromContext(ctx).AddEvent("raced", trace.WithAttributes(batchKey.Int(answers)))
	t.reruns.Add(ctx, int64(answers), t.of(c))
}

// ended counts a call, or those of a batch, and ends its span. The calls of a
// coalescer are counted by themselves, and not again as those of its batches.
func (t *Telemetry) ended(ctx context.Context, e fsm.Ended) {
	event := t.of(e.Observed)
	if e.Calls > 0 {
		t.batchSize.Record(ctx, int64(e.Calls), event)
		t.batchStatements.Record(ctx, int64(e.Statements), event)
		t.batchDuration.Record(ctx, e.Took.Seconds(), event)
	} else {
		t.callDuration.Record(ctx, e.Took.Seconds(), event)
	}
	if e.Calls == 0 || !e.Coalesced {
		t.count(ctx, e)
	}
	t.endSpan(ctx, e)
}

// count adds the answers up before they are counted: a batch has thousands, and few
// that differ.
func (t *Telemetry) count(ctx context.Context, e fsm.Ended) {
	seen := map[answered]int64{}
	for outcome, err := range e.Answers() {
		seen[answered{named{e.Machine, e.Event}, outcome, errorType(err), e.Provisional}]++
	}
	for a, n := range seen {
		t.calls.Add(ctx, n, t.set(a, a.attributes))
	}
}

func (t *Telemetry) endSpan(ctx context.Context, e fsm.Ended) {
	span := trace.SpanFromContext(ctx)
	defer span.End()
	if !span.IsRecording() {
		return
	}
	set := []attribute.KeyValue{provisionalKey.Bool(e.Provisional), coalescedKey.Bool(e.Coalesced), statementsKey.Int(e.Statements)}
	if e.RequestID != "" {
		set = append(set, requestKey.String(e.RequestID))
	}
	if kind := errorType(e.Err); kind != "" {
		set = append(set, failed(e.Err)...)
		if !callersFault(kind) {
			span.SetStatus(codes.Error, kind)
		}
	} else if e.Calls == 0 {
		set = append(set, outcomeKey.String(string(e.Outcome)), fromKey.String(e.From), toKey.String(e.To), versionKey.Int64(e.Version))
	}
	if t.spans != nil {
		set = append(set, t.spans(ctx, e)...)
	}
	span.SetAttributes(set...)
}

// failed is what may be told of an error.
func failed(err error) []attribute.KeyValue {
	set := []attribute.KeyValue{errorKey.String(errorType(err))}
	if state := sqlState(err); state != "" {
		set = append(set, sqlStateKey.String(state))
	}
	return set
}

func (t *Telemetry) retried(ctx context.Context, attempt int, err error) {
	why := cause(err)
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attemptKey.Int(attempt), errorKey.String(why)))
	t.retries.Add(ctx, 1, t.set(retry(why), func() []attribute.KeyValue { return []attribute.KeyValue{errorKey.String(why)} }))
}

// retry is the label set of a retry.
type retry string

// swept counts what deadlines moved. The pages have no spans: most are empty.
func (t *Telemetry) swept(ctx context.Context, rows []fsm.Swept, err error) {
	moved := map[named]int64{}
	for _, r := range rows {
		moved[named{r.Machine, r.Event}]++
	}
	for n, count := range moved {
		t.sweptRows.Add(ctx, count, t.set(n, n.attributes))
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	a := answered{kind: errorType(err)}
	if call := (*fsm.CallError)(nil); errors.As(err, &call) {
		a.named = named{call.Machine, call.Event}
	}
	t.sweepErrors.Add(ctx, 1, t.set(sweepError(a), func() []attribute.KeyValue {
		return append(a.named.attributes(), errorKey.String(a.kind))
	}))
}

// sweepError is the label set of a page that failed.
type sweepError answered
