package fsmotel_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fsmotel"
)

// register writes down the instruments that it is asked for: "kind unit" by name.
type register struct {
	noop.MeterProvider
	meter recording
}

func (r register) Meter(string, ...metric.MeterOption) metric.Meter { return r.meter }

type recording struct {
	noop.Meter
	made map[string]string
}

func (r recording) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	r.made[name] = "counter " + metric.NewInt64CounterConfig(o...).Unit()
	return noop.Int64Counter{}, nil
}

func (r recording) Int64Histogram(name string, o ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	r.made[name] = "histogram " + metric.NewInt64HistogramConfig(o...).Unit()
	return noop.Int64Histogram{}, nil
}

func (r recording) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	r.made[name] = "histogram " + metric.NewFloat64HistogramConfig(o...).Unit()
	return noop.Float64Histogram{}, nil
}

func (r recording) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	r.made[name] = "gauge " + metric.NewInt64ObservableGaugeConfig(o...).Unit()
	return noop.Int64ObservableGauge{}, nil
}

func (r recording) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	r.made[name] = "gauge " + metric.NewFloat64ObservableGaugeConfig(o...).Unit()
	return noop.Float64ObservableGauge{}, nil
}

func (r recording) Int64ObservableCounter(name string, o ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	r.made[name] = "counter " + metric.NewInt64ObservableCounterConfig(o...).Unit()
	return noop.Int64ObservableCounter{}, nil
}

func (r recording) Float64ObservableCounter(name string, o ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	r.made[name] = "counter " + metric.NewFloat64ObservableCounterConfig(o...).Unit()
	return noop.Float64ObservableCounter{}, nil
}

func (r recording) Int64ObservableUpDownCounter(name string, o ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	r.made[name] = "updown " + metric.NewInt64ObservableUpDownCounterConfig(o...).Unit()
	return noop.Int64ObservableUpDownCounter{}, nil
}

var documented = regexp.MustCompile("(?m)^\\| `((?:pawl|db)\\.[a-z._]+)` \\| (counter|gauge|histogram|updown) \\| (?:`([^`]+)`)? ?\\|")

// docs/observability.md has every metric, its kind and its unit, and no other.
func TestThePageHasEveryMetric(t *testing.T) {
	t.Parallel()
	r := register{meter: recording{made: map[string]string{}}}
	telemetry, err := fsmotel.New(fsmotel.Config{Meters: r})
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), "postgres://nowhere")
	require.NoError(t, err)
	defer pool.Close()
	_, err = telemetry.Watch(fsmotel.Backlog{DB: pool})
	require.NoError(t, err)
	_, err = telemetry.WatchPool("main", pool)
	require.NoError(t, err)
	_, err = telemetry.WatchCoalescer("order", "pay", func() fsm.CoalescerStats { return fsm.CoalescerStats{} })
	require.NoError(t, err)
	_, err = telemetry.WatchFront("mails", func() (int64, int64, int64, int64) { return 0, 0, 0, 0 })
	require.NoError(t, err)

	page, err := os.ReadFile("../../docs/observability.md")
	require.NoError(t, err)
	told := map[string]string{}
	for _, row := range documented.FindAllStringSubmatch(string(page), -1) {
		require.NotContains(t, told, row[1], "twice")
		told[row[1]] = row[2] + " " + row[3]
	}
	require.Equal(t, r.meter.made, told)
}
