package shop_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

// admin asks the operator's handler.
func (b *bench) admin(path string) reply {
	b.t.Helper()
	public := b.handler
	defer func() { b.handler = public }()
	b.handler = b.service.Admin()
	return b.do("GET", path, "")
}

func TestWhatTheProgramNeedsIsAskedFor(t *testing.T) {
	t.Parallel()
	var missing error
	b := newBench(t, func(c *shop.Config) { c.Ready = func(context.Context) error { return missing } })
	b.is(http.StatusOK, b.admin("/readyz"))
	missing = errors.New("migrations are pending")
	b.is(http.StatusOK, b.admin("/readyz")) // within the second
	b.clock.advance(time.Second)
	r := b.is(http.StatusServiceUnavailable, b.admin("/readyz"))
	require.Equal(t, "the database is not as the program needs it", r.body["detail"])
	b.is(http.StatusOK, b.admin("/healthz"))
	b.is(http.StatusOK, b.admin("/debug/counters"))
	b.is(http.StatusNotFound, b.do("GET", "/debug/counters", "")) // customers do not come here
	b.is(http.StatusNotFound, b.admin("/orders/"+orderA))
	require.Contains(t, b.log.String(), `level=WARN msg="request failed" method=GET path=/readyz status=503`)
	require.NotContains(t, b.log.String(), "level=ERROR")
}

// Whoever probes is told within 2 s, also by a database that is frozen.
func TestReadinessDoesNotWaitForAFrozenDatabase(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Duration, 2)
	limit := func(ctx context.Context) {
		until, bounded := ctx.Deadline()
		require.True(t, bounded)
		limits <- time.Until(until)
	}
	b := newBench(t, func(c *shop.Config) {
		config := c.Pool.Config()
		config.PrepareConn = func(ctx context.Context, _ *pgx.Conn) (bool, error) {
			limit(ctx)
			return true, nil
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		c.Pool, c.Timeout = pool, time.Hour
		c.Ready = func(ctx context.Context) error {
			limit(ctx)
			return context.DeadlineExceeded
		}
	})
	r := b.is(http.StatusServiceUnavailable, b.admin("/readyz"))
	require.Equal(t, "the database is not as the program needs it", r.body["detail"])
	require.LessOrEqual(t, <-limits, 2*time.Second, "the ping")
	require.LessOrEqual(t, <-limits, 2*time.Second, "what the program needs")
}

// Whoever may ask as often as he likes has the database asked once a second, by one
// at a time, and a request that is given up ends nobody else's.
func TestReadinessIsAskedOnceForAll(t *testing.T) {
	t.Parallel()
	asked, began, goOn := 0, make(chan struct{}, 3), make(chan struct{})
	b := newBench(t, func(c *shop.Config) {
		c.Ready = func(ctx context.Context) error {
			asked++ // one at a time, as the race detector sees
			began <- struct{}{}
			<-goOn
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return nil // a busy machine may take longer than the question has
		}
	})
	first, leave := context.WithCancel(t.Context())
	gone := make(chan int)
	go func() { gone <- statusOf(first, b.handler) }()
	<-began
	const others = 40
	answers := make(chan int)
	for range others {
		go func() { answers <- statusOf(t.Context(), b.handler) }()
	}
	leave()
	require.Equal(t, http.StatusServiceUnavailable, <-gone)
	close(goOn)
	for range others {
		require.Equal(t, http.StatusOK, <-answers)
	}
	require.Equal(t, 1, asked)
	b.clock.advance(999 * time.Millisecond)
	b.is(http.StatusOK, b.do("GET", "/readyz", ""))
	require.Equal(t, 1, asked)
	b.clock.advance(time.Millisecond)
	b.is(http.StatusOK, b.do("GET", "/readyz", ""))
	require.Equal(t, 2, asked)
	b.clock.advance(-time.Hour)
	b.is(http.StatusOK, b.do("GET", "/readyz", ""))
	require.Equal(t, 3, asked, "an answer of a time to come is none")
}

// statusOf is what a handler answers to a look at whether it is ready.
func statusOf(ctx context.Context, h http.Handler) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/readyz", http.NoBody))
	return w.Code
}

// A sweeper or a relay that hangs makes the service unready, until it goes on; so does
// a service that is being stopped.
func TestStuckWorkMakesUnready(t *testing.T) {
	t.Parallel()
	for part, table := range map[string]string{"sweeper": "payments", "relay": "fsm_outbox"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			held, err := b.pool.Begin(t.Context())
			require.NoError(t, err)
			_, err = held.Exec(t.Context(), "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
			require.NoError(t, err)
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- b.service.Serve(ctx, l, time.Minute) }()
			waiting(t, held, table)
			b.clock.advance(30 * time.Second)
			b.is(http.StatusOK, b.admin("/readyz")) // it may take a while
			b.clock.advance(5 * time.Minute)
			r := b.is(http.StatusServiceUnavailable, b.admin("/readyz"))
			require.Regexp(t, "^no sign of life of: .*"+part, r.body["detail"])
			b.is(http.StatusOK, b.admin("/healthz"))

			require.NoError(t, held.Rollback(t.Context()))
			until, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for b.admin("/readyz").status != http.StatusOK {
				require.NoError(t, until.Err(), "it goes on, and says so")
			}
			stop()
			require.NoError(t, <-ended)
			r = b.is(http.StatusServiceUnavailable, b.admin("/readyz"))
			require.Equal(t, "the service is being stopped", r.body["detail"])
		})
	}
}

// waiting returns once somebody waits for the table that tx has locked.
func waiting(t *testing.T, tx pgx.Tx, table string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for yes := false; !yes; {
		require.NoError(t, tx.QueryRow(ctx,
			"SELECT EXISTS (SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted)", table).Scan(&yes))
	}
}

// Log lines of a request have the id that the history has.
func TestLogLinesAreTiedToTheHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE orders ADD CONSTRAINT never CHECK (status <> 'CANCELLED')")
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), "DELETE", "/orders/"+orderA, nil)
	r.Header.Set("X-Request-Id", "req-7")
	b.is(http.StatusInternalServerError, b.send(r))
	require.Regexp(t, `level=ERROR msg="request failed" method=DELETE .* request_id=req-7\n`, b.log.String())
	_, err = b.pool.Exec(t.Context(), "ALTER TABLE orders DROP CONSTRAINT never")
	require.NoError(t, err)
	r = httptest.NewRequestWithContext(t.Context(), "DELETE", "/orders/"+orderA, nil)
	r.Header.Set("X-Request-Id", "req-8")
	b.is(http.StatusNoContent, b.send(r))
	require.Equal(t, "req-8", b.value("SELECT request_id FROM order_history WHERE event = 'cancel'"))
}
