package shop

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

type requestIDKey struct{}

// withRequestID returns a context whose log lines carry the request's id: the one that
// the history has.
func withRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// tied is a handler whose lines say which request they are of, and which trace.
type tied struct{ slog.Handler }

// Handle adds what the context knows.
func (h tied) Handle(ctx context.Context, r slog.Record) error {
	if id, _ := ctx.Value(requestIDKey{}).(string); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler around what it returns.
func (h tied) WithAttrs(attrs []slog.Attr) slog.Handler { return tied{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps the handler around what it returns.
func (h tied) WithGroup(name string) slog.Handler { return tied{h.Handler.WithGroup(name)} }
