package acceptance

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fsmotel"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about what operators see.
var _ = []any{pageWire, pageHooks, pageObserve, pageTraces, pageSpans}

func pageWire(ctx context.Context, pool, reader *pgxpool.Pool, start func(context.Context, *http.Server, *fsm.Sweeper)) error {
	telemetry, err := fsmotel.New(fsmotel.Config{}) // the providers of package otel
	if err != nil {
		return err
	}
	ctx = telemetry.Context(ctx)                                                           // calls, batches, sweeps and RunTx that have it are told
	server := &http.Server{BaseContext: func(net.Listener) context.Context { return ctx }} // so do those of requests
	sweeper := &fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}                              // sweeper.Run(ctx)
	_, err = telemetry.Watch(fsmotel.Backlog{DB: reader, Outbox: true, Inbox: true, Deadlines: []fsmotel.Deadline{{Machine: "order", Table: "orders"}}})

	start(ctx, server, sweeper)
	return err
}

func pageHooks(telemetry *fsmotel.Telemetry, pool *pgxpool.Pool, publisher relay.Publisher, providers []inbox.Provider, inRedis, inPostgres lock.Locker,
	call func(context.Context, attempt.Attempt) (attempt.Result, error), complete func(context.Context, pgx.Tx, attempt.Attempt) error,
	start func(...any),
) error {
	relay := &relay.Relay{DB: pool, Publisher: telemetry.Publisher(publisher), Delivered: telemetry.Delivered, Failed: telemetry.RelayFailed}
	box, err := inbox.New(inbox.Config{Pool: pool, Providers: providers, Observe: telemetry.Told})
	if err != nil {
		return err
	}
	consumer := &consume.Consumer{DB: pool, Name: "mails", Lease: time.Minute, Tries: 5, Observe: telemetry.Consumed}
	refund := &command.Command{Name: "order.refund", Observe: telemetry.Commanded("order.refund")}
	kind := &attempt.Kind{Name: "refund", Call: call, Complete: complete, RepeatIsQuery: true, Notify: telemetry.Noticed}
	locks, err := lock.Fallback(inRedis, inPostgres, lock.Rule{Stay: 10 * time.Second, Switched: telemetry.FellBack("lock")})
	locker := telemetry.Locker("order", locks)

	start(relay, box, consumer, refund, kind, locker)
	return err
}

func pageObserve(ctx context.Context, pool *pgxpool.Pool, listener net.Listener) error {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = meters.Shutdown(context.WithoutCancel(ctx)) }()
	telemetry, err := fsmotel.New(fsmotel.Config{Meters: meters})
	if err != nil {
		return err
	}
	if _, err := telemetry.Watch(fsmotel.Backlog{DB: pool, Outbox: true, Deadlines: []fsmotel.Deadline{{Machine: "order", Table: "orders"}}}); err != nil {
		return err
	}
	ctx = telemetry.Context(ctx)

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{})) // on a port that only operators reach
	mux.HandleFunc("POST /orders/{id}/ship", func(w http.ResponseWriter, r *http.Request) {
		result, err := order.Ship(r.Context(), pool, order.Key(r.PathValue("id")))
		if err == nil {
			err = result.Err()
		}
		if err != nil {
			http.Error(w, "no", http.StatusConflict)
		}
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	sweeper := &fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}
	go func() { _ = sweeper.Run(ctx) }()
	return server.Serve(listener)
}

func pageTraces(meters *metric.MeterProvider, spans trace.SpanExporter) (telemetry *fsmotel.Telemetry, stop func(context.Context) error, err error) {
	traces := trace.NewTracerProvider(trace.WithBatcher(spans)) // otlptracehttp.New(ctx) for one
	telemetry, err = fsmotel.New(fsmotel.Config{Meters: meters, Traces: traces})
	return telemetry, traces.Shutdown, err // Shutdown sends what waits
}

func pageSpans() fsmotel.Config {
	config := fsmotel.Config{Spans: func(_ context.Context, e fsm.Ended) []attribute.KeyValue {
		if row, is := e.Row.(order.Row); is {
			return []attribute.KeyValue{attribute.String("order.id", string(row.OrderID))}
		}
		return nil
	}}
	return config
}
