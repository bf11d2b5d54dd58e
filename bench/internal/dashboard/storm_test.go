package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"github.com/stretchr/testify/require"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fsmotel"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// storm has everything happen that the dashboard has a line for: what is bought and
// refused, duplicates and wrong amounts, races, locks, deadlines, messages and callbacks
// that are not taken, and a database that refuses.
func (s *shop) storm() {
	s.is(http.StatusOK, "PUT", "/stock/mug", `{"quantity":100}`)
	for n := range 8 {
		s.awaiting(n)
	}
	s.is(http.StatusConflict, "POST", path(0, "/ship"), "")
	s.is(http.StatusPreconditionFailed, "DELETE", path(0, ""), "", "If-Match", `"9"`)
	s.is(http.StatusNotFound, "POST", path(99, "/ship"), "")

	// Paid, told twice, then with another amount; shipped, and half of it given back.
	s.tell(1, 100)
	s.tell(1, 100)
	s.tell(1, 50)
	s.is(http.StatusOK, "POST", path(1, "/ship"), "")
	for range 2 {
		s.is(http.StatusAccepted, "POST", path(1, "/refunds"), `{"refund_no":"r-1","amount_cents":40}`, "Idempotency-Key", "k-1", "X-Actor", "ann")
	}
	s.until(`SELECT EXISTS (SELECT FROM refunds WHERE status = 'SUCCEEDED')`)

	s.race()
	s.busy()
	s.refused()
	s.late()

	// A state of nowhere.
	s.exec(`ALTER TABLE orders DROP CONSTRAINT orders_status_check`)
	s.exec(`SET session_replication_role = replica`)
	s.exec(`UPDATE orders SET status = 'LOST', deadline_at = NULL WHERE order_id = $1`, id(7))
	s.exec(`SET session_replication_role = origin`)
	s.is(http.StatusInternalServerError, "POST", path(7, "/ship"), "")
}

// race has a request wait for a row that moves meanwhile.
func (s *shop) race() {
	tx, err := s.conn.Begin(s.t.Context())
	require.NoError(s.t, err)
	_, err = order.Cancel(s.t.Context(), tx, id(2))
	require.NoError(s.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.is(http.StatusNoContent, "DELETE", path(2, ""), "")
	}()
	s.until(someoneWaits)
	require.NoError(s.t, tx.Commit(s.t.Context()))
	<-done
}

// busy holds a row for longer than a callback waits for it, which then tries again.
func (s *shop) busy() {
	tx, err := s.conn.Begin(s.t.Context())
	require.NoError(s.t, err)
	_, err = tx.Exec(s.t.Context(), `SELECT FROM orders WHERE order_id = $1 FOR UPDATE`, id(3))
	require.NoError(s.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.tell(3, 100)
	}()
	s.scrapeUntil("pawl_transaction_retries_total")
	require.NoError(s.t, tx.Commit(s.t.Context()))
	<-done
}

// refused has the database refuse a call, and a message.
func (s *shop) refused() {
	s.exec(`ALTER TABLE orders ADD CONSTRAINT kept CHECK (status <> 'CANCELLED') NOT VALID`)
	s.is(http.StatusInternalServerError, "DELETE", path(4, ""), "")
	s.exec(`UPDATE orders SET deadline_at = now() - interval '1 minute', status = 'PENDING', version = version + 1 WHERE order_id = $1`, id(4))
	s.scrapeUntil("pawl_sweep_errors_total")
	s.exec(`ALTER TABLE orders DROP CONSTRAINT kept`)

	s.exec(`ALTER TABLE shop_mails ADD CONSTRAINT none CHECK (false) NOT VALID`)
	s.tell(5, 100)
	s.scrapeUntil("pawl_relay_failures_total")
	s.exec(`ALTER TABLE shop_mails DROP CONSTRAINT none`)
}

// late waits for a deadline that has passed.
func (s *shop) late() { s.scrapeUntil("pawl_sweep_rows_total") }

// gathered has the metrics of what the example has not: a coalescer, and a consumer's front in
// Redis.
func gathered(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	require.NoError(t, err)
	telemetry, err := fsmotel.New(fsmotel.Config{Meters: metric.NewMeterProvider(metric.WithReader(reader))})
	require.NoError(t, err)
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err = order.Create(t.Context(), pool, order.CreateParams{Key: id(1), CustomerID: "ann", Sku: "mug", Quantity: 1, TotalCents: 100})
	require.NoError(t, err)
	ctx := telemetry.Context(t.Context())
	c, err := fsm.NewCoalescer(ctx, pool, order.PayBatch, fsm.Coalescing{Ran: telemetry.Ran("order", "pay")})
	require.NoError(t, err)
	_, err = c.Fire(ctx, order.PayItem{Key: id(1)})
	require.NoError(t, err)
	require.NoError(t, c.Close(context.Background()))
	_, err = telemetry.WatchCoalescer("order", "pay", c.Stats)
	require.NoError(t, err)
	_, err = telemetry.WatchFront("mails", func() (int64, int64, int64, int64) { return 1, 2, 3, 4 })
	require.NoError(t, err)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}
