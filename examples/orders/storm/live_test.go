package storm

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

// atOnce does not wait, but ends with ctx.
func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// over is what a storm told and heard.
type over struct {
	script *Script
	log    *log
}

// live is a storm that runs until the test or stop ends it.
type live struct {
	*Live
	overs chan over
	// end asks it to end, and stop waits for that too.
	end  context.CancelFunc
	stop func()
}

func startLive(t *testing.T, o LiveOptions) *live {
	t.Helper()
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &live{Live: NewLive(o), overs: make(chan over, 1), end: end}
	l.asks.SetLimit(rate.Inf)
	l.over = func(s *Script, all *log) { l.overs <- over{s, all} }
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	l.stop = func() {
		end()
		running.Wait()
	}
	t.Cleanup(l.stop)
	return l
}

// serving is a shop that serves, with its relay, its sweeps and its inbox. end ends it.
func serving(t *testing.T, provider *Provider) (service *shop.Service, pool *pgxpool.Pool, url string, end func()) {
	t.Helper()
	standard, stripe, err := provider.Verifiers()
	require.NoError(t, err)
	pool = newDatabase(t)
	service, err = shop.New(shop.Config{Pool: pool, Standard: standard, Stripe: stripe, Inbox: true, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var served sync.WaitGroup
	served.Go(func() { err = service.Serve(ctx, listener, time.Minute) })
	end = func() {
		cancel()
		served.Wait()
		require.NoError(t, err)
	}
	t.Cleanup(end)
	return service, pool, "http://" + listener.Addr().String(), end
}

// A service that serves keeps every promise in a storm of its own HTTP: what was told
// twice, late, out of order or wrongly is nothing, or one thing.
func TestLiveKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	provider := newProvider(t)
	service, pool, url, end := serving(t, provider)
	l := startLive(t, LiveOptions{URL: url, Provider: provider, Seed: 1, Orders: 120, Wait: atOnce, Log: slog.New(slog.DiscardHandler)})
	require.False(t, l.Press())
	o := <-l.overs
	require.GreaterOrEqual(t, o.script.Orders(), 120)
	require.LessOrEqual(t, o.script.Orders(), 121)
	l.stop()
	end()

	// What came before its order waits in the inbox, and need not wait for long here.
	_, err := pool.Exec(t.Context(), "UPDATE fsm_inbox SET due_at = now() WHERE state = 'parked'")
	require.NoError(t, err)
	_, err = service.Retry().Once(t.Context())
	require.NoError(t, err)

	r, err := examine(t.Context(), pool, o.script, o.log)
	require.NoError(t, err)
	require.Empty(t, broken(r), "%+v", r.Promises)
	require.Equal(t, r.Money.In, r.Money.Kept+r.Money.Owed)
	var duplicates, cases, refused int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM fsm_deliveries AS d WHERE d.verdicts && '{duplicate,running}'),
		(SELECT count(*) FROM shop_cases AS c WHERE c.outcome = 'Mismatched'),
		(SELECT COALESCE(sum(f.count), 0) FROM fsm_refused_deliveries AS f)`).Scan(&duplicates, &cases, &refused))
	require.Positive(t, duplicates, "some bounced off")
	require.Positive(t, cases, "some said something else than before")
	require.Positive(t, refused, "and some were not believed")
}

// gated is a server that has each request wait at a gate, and a pause that is one, too.
type gated struct {
	arrived chan *http.Request
	open    chan struct{}
	paused  chan struct{}
	resume  chan struct{}
}

func gatedLive(t *testing.T) (*live, *gated) {
	t.Helper()
	g := &gated{arrived: make(chan *http.Request, 1000), open: make(chan struct{}), paused: make(chan struct{}, 1000), resume: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut { // stock
			return
		}
		g.arrived <- r
		<-g.open
	}))
	t.Cleanup(server.Close)
	wait := func(ctx context.Context, d time.Duration) error {
		g.paused <- struct{}{}
		select {
		case <-g.resume:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l := startLive(t, LiveOptions{URL: server.URL, Provider: newProvider(t), Orders: 3, Wait: wait, Log: slog.New(slog.DiscardHandler)})
	return l, g
}

func TestASecondPressHasTheStormGoOn(t *testing.T) {
	t.Parallel()
	l, g := gatedLive(t)
	close(g.open)
	require.False(t, l.Press())
	<-g.paused // one order of three is placed
	require.True(t, l.Press())
	close(g.resume)
	o := <-l.overs
	require.Equal(t, 1+3, o.script.Orders())
	require.False(t, l.Press(), "the next storm is another")
	again := <-l.overs
	require.Equal(t, 3, again.script.Orders())
	require.NotEqual(t, o.script.purchases[0].id, again.script.purchases[0].id)
	require.NotEqual(t, o.script.stock, again.script.stock)
}

// What was sent when the storm ends is answered; and nothing else is sent.
func TestLiveEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	l, g := gatedLive(t)
	l.Press()
	<-g.arrived
	<-g.paused
	l.end()
	close(g.open)
	o := <-l.overs
	l.stop()
	require.Equal(t, 1, o.log.requests)
	for a := range o.log.told {
		require.Equal(t, toldDone, a.told)
	}
	require.Empty(t, g.arrived, "nothing else was sent")
}

// A storm that gets no stock tells nothing else. Where the service refuses that is an
// error; where the program ends before there is any, it is none of the storm's.
func TestLiveWithoutStock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, end func())
		fails  bool
		says   []string
	}{
		{"no such service", func(w http.ResponseWriter, _ func()) { w.WriteHeader(http.StatusNotFound) },
			true, []string{"the storm could not begin", "404"}},
		{"it ends before", func(_ http.ResponseWriter, end func()) { end(); panic(http.ErrAbortHandler) },
			false, []string{"the storm is over"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			ends := make(chan func(), 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w, <-ends) }))
			defer server.Close()
			l := startLive(t, LiveOptions{URL: server.URL, Provider: newProvider(t), Wait: atOnce, Log: slog.New(slog.NewTextHandler(&said, nil))})
			ends <- l.end
			l.Press()
			require.Zero(t, (<-l.overs).log.requests)
			l.stop()
			require.Equal(t, c.fails, strings.Contains(said.String(), "level=ERROR"))
			for _, part := range c.says {
				require.Contains(t, said.String(), part)
			}
		})
	}
}

// A customer, or a provider, who is told to come again does.
func TestLiveComesAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	first := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		key := r.Method + r.URL.Path + string(body)
		if r.Method != http.MethodPut && (err != nil || !first[key]) {
			first[key] = true
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	l := startLive(t, LiveOptions{URL: server.URL, Provider: newProvider(t), Orders: 3, Wait: atOnce, Log: slog.New(slog.DiscardHandler)})
	l.Press()
	o := <-l.overs
	answered := 0
	for a, n := range o.log.told {
		require.Equal(t, toldDone, a.told)
		answered += n
	}
	require.Equal(t, len(first)+answered, o.log.requests)
}
