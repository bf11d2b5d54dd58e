package acceptance

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// The program of the page counts what it serves.
func TestTheProgramOfThePageAboutOperatorsRuns(t *testing.T) {
	t.Parallel()
	s := open(t)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pageObserve(ctx, s.pool, listener) }()
	send := func(method, path string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+listener.Addr().String()+path, nil)
		require.NoError(t, err)
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, string(body)
	}
	status, _ := send("POST", "/orders/"+string(keyOf(1))+"/ship")
	require.Equal(t, http.StatusConflict, status)
	_, scraped := send("GET", "/metrics")
	for _, line := range []string{
		`pawl_calls_total{error_type="not_found",pawl_event="ship",pawl_machine="order",pawl_provisional="false"} 1`,
		`pawl_call_duration_seconds_count{pawl_event="ship",pawl_machine="order"} 1`,
		`pawl_deadline_overdue{pawl_machine="order"} 0`,
		`pawl_backlog_up{pawl_part="outbox"} 1`,
	} {
		require.Contains(t, scraped, line+"\n")
	}
	stop()
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
}

// lasting are spans that outlive the end of their exporter.
type lasting struct{ *tracetest.InMemoryExporter }

func (lasting) Shutdown(context.Context) error { return nil }

// The exporter of the page gets a span a call.
func TestTheTracesOfThePageAreExported(t *testing.T) {
	t.Parallel()
	s := open(t)
	spans := lasting{tracetest.NewInMemoryExporter()}
	telemetry, stop, err := pageTraces(metric.NewMeterProvider(), spans)
	require.NoError(t, err)
	_, err = order.Ship(telemetry.Context(t.Context()), s.pool, keyOf(1))
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.NoError(t, stop(t.Context()))
	require.Len(t, spans.GetSpans(), 1)
	require.Equal(t, "order ship", spans.GetSpans()[0].Name)
}
