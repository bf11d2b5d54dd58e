package fsmotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fsmotel"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience bounds every wait. It fails a test that would hang, and is never waited
// out by one that passes.
const patience = 20 * time.Second

const (
	orderA order.Key = "0a000000-0000-4000-8000-00000000000a"
	orderB order.Key = "0b000000-0000-4000-8000-00000000000b"
	orderC order.Key = "0c000000-0000-4000-8000-00000000000c"
)

// stand is a database, and telemetry that the test reads.
type stand struct {
	*fsmotel.Telemetry
	t      *testing.T
	pool   *pgxpool.Pool
	reader metric.Reader
	traces *tracetest.SpanRecorder
	tracer *trace.TracerProvider
	ctx    context.Context // observed
}

func newStand(t *testing.T, spans func(context.Context, fsm.Ended) []attribute.KeyValue) *stand {
	t.Helper()
	s := &stand{t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), reader: metric.NewManualReader(), traces: tracetest.NewSpanRecorder()}
	s.tracer = trace.NewTracerProvider(trace.WithSpanProcessor(s.traces))
	var err error
	s.Telemetry, err = fsmotel.New(fsmotel.Config{
		Meters: metric.NewMeterProvider(metric.WithReader(s.reader)),
		Traces: s.tracer, Spans: spans,
	})
	require.NoError(t, err)
	s.ctx = s.Context(t.Context())
	return s
}

// orders makes an order of each key, which nobody is told of.
func (s *stand) orders(keys ...order.Key) {
	s.t.Helper()
	for _, key := range keys {
		r, err := order.Create(s.t.Context(), s.pool, order.CreateParams{Key: key, CustomerID: "ann", Sku: "mug", Quantity: 1, TotalCents: 4242})
		require.NoError(s.t, err)
		require.Equal(s.t, fsm.Applied, r.Outcome)
	}
	_, err := s.pool.Exec(s.t.Context(), "DELETE FROM fsm_outbox")
	require.NoError(s.t, err)
}

// read is all points of the metrics, by name and attributes: a value, or of a
// histogram the count.
func (s *stand) read() map[string]float64 {
	s.t.Helper()
	points, err := s.collect()
	require.NoError(s.t, err)
	return points
}

func (s *stand) collect() (map[string]float64, error) {
	var all metricdata.ResourceMetrics
	err := s.reader.Collect(s.t.Context(), &all)
	points := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				add(points, m.Name, data.DataPoints)
			case metricdata.Sum[float64]:
				add(points, m.Name, data.DataPoints)
			case metricdata.Gauge[int64]:
				add(points, m.Name, data.DataPoints)
			case metricdata.Gauge[float64]:
				add(points, m.Name, data.DataPoints)
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					points[named(m.Name, p.Attributes)] = float64(p.Count)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					points[named(m.Name, p.Attributes)] = float64(p.Count)
				}
			default:
				s.t.Fatalf("%s is a %T", m.Name, data)
			}
		}
	}
	return points, err
}

func add[N int64 | float64](points map[string]float64, name string, of []metricdata.DataPoint[N]) {
	for _, p := range of {
		points[named(name, p.Attributes)] = float64(p.Value)
	}
}

// named is "pawl.calls pawl.event=pay pawl.machine=order".
func named(name string, set attribute.Set) string {
	for _, kv := range set.ToSlice() {
		name += " " + string(kv.Key) + "=" + kv.Value.String()
	}
	return name
}

// some are those of the points whose metric is named.
func some(points map[string]float64, metric string) map[string]float64 {
	out := map[string]float64{}
	for name, v := range points {
		if rest, is := strings.CutPrefix(name+" ", metric+" "); is {
			out[strings.TrimSpace(rest)] = v
		}
	}
	return out
}

// spansOf are the attributes of the ended spans of a name, as "k=v k=v", with their
// status before.
func (s *stand) spansOf(name string) []string {
	var out []string
	for _, span := range s.traces.Ended() {
		if span.Name() == name {
			set := attribute.NewSet(span.Attributes()...)
			out = append(out, strings.TrimSpace(named(fmt.Sprint(span.Status().Code, " ", span.Status().Description), set)))
		}
	}
	return out
}

// whenBlocked returns once n sessions of the database wait for a lock. The server's
// own view is the signal; done fails the test.
func (s *stand) whenBlocked(n int, done <-chan struct{}) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for {
		select {
		case <-done:
			require.FailNow(s.t, "it ended without waiting")
		case <-ask.C:
		}
		var yes bool
		require.NoError(s.t, s.pool.QueryRow(ctx, `SELECT count(*) >= $1 FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`, n).Scan(&yes), "nothing waits")
		if yes {
			return
		}
	}
}
