package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/fsmotel"
)

// metrics are what Prometheus reads of the service.
type metrics struct {
	telemetry *fsmotel.Telemetry
	handler   http.Handler
	provider  *metric.MeterProvider
	log       *slog.Logger
	service   atomic.Pointer[shop.Service] // nil until there is one
}

// failed logs what could not be measured: by the service, whose log is short while the
// database is away.
func (m *metrics) failed(err error) {
	const what = "not everything could be measured"
	if s := m.service.Load(); s != nil {
		s.Failed(what, err)
		return
	}
	m.log.Warn(what, "error", err)
}

// newMetrics returns the metrics of the service, of Go and of the process, told as those
// of "orders" where the environment's OTEL_SERVICE_NAME names nothing else. Traces go
// where the global provider sends them: nowhere, unless a program sets one.
func newMetrics(log *slog.Logger) (*metrics, error) {
	m := &metrics{log: log}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(m.failed))
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, err
	}
	of, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "orders")), resource.WithFromEnv())
	if err != nil { // what could be read of the environment is there
		m.failed(err)
	}
	m.provider = metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(of))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})
	m.telemetry, err = fsmotel.New(fsmotel.Config{Meters: m.provider})
	return m, err
}

// watch has each scrape ask what waits in the database, and how the pool does.
func (m *metrics) watch(pool *pgxpool.Pool) error {
	if _, err := m.telemetry.WatchPool("orders", pool); err != nil {
		return err
	}
	_, err := m.telemetry.Watch(fsmotel.Backlog{DB: pool, Outbox: true, Inbox: true, Deadlines: []fsmotel.Deadline{
		{Machine: "order", Table: "orders"}, {Machine: "payment", Table: "payments"}, {Machine: "refund", Table: "refunds"},
	}})
	return err
}

// stop ends what newMetrics and watch began.
func (m *metrics) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := m.provider.Shutdown(ctx); err != nil {
		m.log.Warn("metrics were not ended as they should", "error", err)
	}
}
