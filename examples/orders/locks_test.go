package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/testredis"
	"github.com/pawl-go/pawl/migrations"
)

// quickTimes are short enough to outlast in a test.
var quickTimes = lockTimes{
	ttl: 300 * time.Millisecond, maxHold: 5 * time.Second, wait: 2 * time.Second,
	stay: 200 * time.Millisecond, dial: 100 * time.Millisecond,
}

// endlessTimes are over in no test, however slow the machine is: quick ones can run out
// between the lock and its fencing value, which needs a first connection to PostgreSQL.
var endlessTimes = lockTimes{
	ttl: time.Hour, maxHold: time.Hour, wait: time.Hour,
	stay: time.Hour, dial: time.Hour, call: time.Hour / 2,
}

// longestCall bounds one callback, whatever Redis does meanwhile. Expected are
// the 75 ms after which lockredis gives up on a call (a quarter of the TTL), a few
// of them in a row, and the work itself; a slow machine may take far longer.
const longestCall = 5 * time.Second

const (
	loadOrders  = 60
	loadCallers = 8
	loadTold    = 4 // how often each payment is told
)

// load is a shop with the locks of serve, on a Redis that the test breaks.
type load struct {
	t       *testing.T
	pool    *pgxpool.Pool
	redis   *testredis.Server
	signer  *webhook.StandardSigner
	service *shop.Service
	handler http.Handler
	log     *bytes.Buffer // openLock's; read it when no call is under way

	mu      sync.Mutex
	applied map[string]int // by order
	calls   int
	longest time.Duration
}

func newLoad(t *testing.T, redis *testredis.Server, times lockTimes) *load {
	t.Helper()
	secret := webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	log := &bytes.Buffer{}
	locker, stop, err := openLock(t.Context(), "redis://"+redis.Addr, times, pool, slog.New(slog.NewTextHandler(log, nil)), func(error) {})
	require.NoError(t, err)
	t.Cleanup(stop)
	verifier, err := webhook.NewStandard([]webhook.Secret{secret})
	require.NoError(t, err)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{secret})
	require.NoError(t, err)
	service, err := shop.New(shop.Config{Pool: pool, Standard: verifier, Lock: locker, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return &load{
		t: t, pool: pool, redis: redis, signer: signer, service: service, handler: service.Handler(), log: log, applied: map[string]int{},
	}
}

// do sends one request and returns the answer.
func (l *load) do(method, path, body string, header http.Header) (int, string) {
	r := httptest.NewRequestWithContext(l.t.Context(), method, path, strings.NewReader(body))
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	return w.Code, string(text)
}

func orderOf(n int) string { return fmt.Sprintf("0c000000-0000-4000-8000-%012d", n) }

// orders makes the orders that wait for their payments.
func (l *load) orders() {
	l.t.Helper()
	status, text := l.do("PUT", "/stock/mug", fmt.Sprintf(`{"quantity":%d}`, 2*loadOrders), nil)
	require.Equal(l.t, http.StatusOK, status, text)
	for n := range loadOrders {
		status, text = l.do("POST", "/orders", fmt.Sprintf(`{"order_id":%q,"customer_id":"ann","sku":"mug","quantity":2,"total_cents":100}`, orderOf(n)), nil)
		require.Equal(l.t, http.StatusCreated, status, text)
		status, text = l.do("POST", "/orders/"+orderOf(n)+"/pay", fmt.Sprintf(`{"payment_no":"p-%d"}`, n), nil)
		require.Equal(l.t, http.StatusOK, status, text)
	}
}

// tell delivers the payment of an order until the provider would be content.
func (l *load) tell(n int) error {
	body := fmt.Sprintf(`{"id":"evt_%d","type":"payment.succeeded","data":{"order_id":%q,"payment_no":"p-%d","amount_cents":100}}`, n, orderOf(n), n)
	for range 20 {
		header, err := l.signer.Sign(fmt.Sprintf("msg_%d", n), time.Now(), []byte(body))
		if err != nil {
			return err
		}
		began := time.Now()
		status, text := l.do("POST", "/callbacks/standard", body, header)
		took := time.Since(began)
		var told struct{ Outcome string }
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			return err
		}
		l.mu.Lock()
		l.calls++
		l.longest = max(l.longest, took)
		if told.Outcome == "Applied" {
			l.applied[orderOf(n)]++
		}
		l.mu.Unlock()
		if status == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("payment %d was never taken", n)
}

// run has callers tell all payments several times, in thirds: Redis breaks after
// the first and mends after the second, which goes on for at least outage.
func (l *load) run(breaks, mends func(*testredis.Server), outage time.Duration) {
	l.t.Helper()
	tellings := make(chan int)
	errs := make(chan error, loadCallers)
	var callers sync.WaitGroup
	for range loadCallers {
		callers.Go(func() {
			for n := range tellings {
				if err := l.tell(n); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	send := func(n int) {
		select {
		case tellings <- n % loadOrders:
		case err := <-errs:
			require.NoError(l.t, err)
		case <-l.t.Context().Done():
			require.NoError(l.t, context.Cause(l.t.Context()))
		}
	}
	// Neighbours in the list are tellings of one payment, so that they meet.
	third := loadOrders / 3
	part := func(i int) {
		for n := i * third; n < (i+1)*third; n++ {
			for range loadTold {
				send(n)
			}
		}
	}
	part(0)
	breaks(l.redis)
	broken := time.Now()
	part(1)
	for n := 0; time.Since(broken) < outage; n++ {
		send(n % (2 * third)) // what is told once more changes nothing
	}
	mends(l.redis)
	part(2)
	close(tellings)
	callers.Wait()
	close(errs)
	require.NoError(l.t, <-errs)
}

// once requires that every payment had its effects, and one time.
func (l *load) once() {
	l.t.Helper()
	require.Len(l.t, l.applied, loadOrders)
	for n := range loadOrders {
		require.Equal(l.t, 1, l.applied[orderOf(n)], "payment %d", n)
	}
	var paid, entries, points, left, cases int
	require.NoError(l.t, l.pool.QueryRow(l.t.Context(), `SELECT
		(SELECT count(*) FROM orders WHERE status = 'PAID'), (SELECT count(*) FROM shop_ledger), (SELECT count(*) FROM shop_points),
		(SELECT quantity FROM shop_stock WHERE sku = 'mug'), (SELECT count(*) FROM shop_cases)`).Scan(&paid, &entries, &points, &left, &cases))
	require.Equal(l.t, []int{loadOrders, loadOrders, loadOrders, 0, 0}, []int{paid, entries, points, left, cases})
}

// turns is how often callbacks came by their lock, by the way.
func (l *load) turns() map[string]int64 {
	out := map[string]int64{}
	for _, c := range l.service.Counters().Turns {
		out[c.Turn] = c.Count
	}
	return out
}

// switched reports whether PostgreSQL had to give locks in place of Redis.
func (l *load) switched() bool { return strings.Contains(l.log.String(), "taking PostgreSQL's") }

func TestRedisGoesAwayUnderCallbacks(t *testing.T) {
	nothing := func(*testredis.Server) {}
	for _, c := range []struct {
		name          string
		breaks, mends func(*testredis.Server)
		outage        time.Duration
		switches      bool
	}{
		{"works", nothing, nothing, 0, false},
		{"is killed and started again", (*testredis.Server).Kill, (*testredis.Server).Restart, 0, true},
		{"is paused for longer than the TTL", (*testredis.Server).Pause, (*testredis.Server).Resume, 3 * quickTimes.ttl, true},
		{"is emptied", (*testredis.Server).Flush, (*testredis.Server).Flush, 0, false},
		{"is killed and comes back empty", (*testredis.Server).Kill, func(s *testredis.Server) { s.Restart(); s.Flush() }, 3 * quickTimes.ttl, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			redis := testredis.Start(t)
			l := newLoad(t, redis, quickTimes)
			l.orders()
			l.run(c.breaks, c.mends, c.outage)
			l.once()
			t.Logf("%d calls, the longest %s, locks %v", l.calls, l.longest.Round(time.Millisecond), l.turns())
			require.Less(t, l.longest, longestCall)
			require.NotZero(t, l.turns()["held"])
			if c.switches {
				require.True(t, l.switched())
			}
		})
	}
}

// The service starts while Redis is away. It has its locks in PostgreSQL for as long as
// it was told to stay there, and then in Redis; callbacks that come meanwhile are settled.
func TestLocksWithoutRedisAtTheStart(t *testing.T) {
	redis := testredis.Start(t)
	redis.Kill()
	var clock atomic.Int64
	times := endlessTimes
	times.now = func() time.Time { return time.Unix(0, clock.Load()) }
	l := newLoad(t, redis, times)
	l.orders()
	require.Equal(t, "PostgreSQL", l.where(0))
	require.True(t, l.switched())
	redis.Restart()
	require.Equal(t, "PostgreSQL", l.where(1), "it stays")
	clock.Add(int64(times.stay) - 1)
	require.Equal(t, "PostgreSQL", l.where(2))
	l.run(func(*testredis.Server) {}, func(*testredis.Server) { clock.Add(1) }, 0)
	l.once()
	require.Equal(t, "Redis", l.where(3))
	t.Logf("%d calls, the longest %s, locks %v", l.calls, l.longest.Round(time.Millisecond), l.turns())
	require.Len(t, l.turns(), 1)
	require.NotZero(t, l.turns()["held"])
}

// where tells of a payment, and returns who gave the lock for it. No other call may be
// under way.
func (l *load) where(n int) (who string) {
	l.t.Helper()
	handler := l.handler
	defer func() { l.handler = handler }()
	look := func(ctx context.Context) error {
		who = "PostgreSQL"
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{l.redis.Addr}, DisableCache: true})
		if err != nil {
			return nil // it is away
		}
		defer client.Close()
		keys, err := client.Do(ctx, client.B().Dbsize().Build()).AsInt64()
		if keys > 0 {
			who = "Redis"
		}
		return err
	}
	l.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(fault.With(r.Context(), lock.PointAcquired, look)))
	})
	require.NoError(l.t, l.tell(n))
	return who
}

// Where nobody switched, it is Redis that has the locks.
func TestLocksAreInRedis(t *testing.T) {
	t.Parallel()
	l := newLoad(t, testredis.Start(t), endlessTimes)
	l.orders()
	for n := range 3 {
		require.NoError(t, l.tell(n))
	}
	require.Equal(t, map[string]int64{"held": 3}, l.turns())
	require.False(t, l.switched())
}

// A lock that is gone again before its holder has a fencing value, as after a TTL that
// was too short for that, is no lock: the payment is settled without, and Redis stays.
func TestLockThatIsGoneBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	l := newLoad(t, testredis.Start(t), endlessTimes)
	l.orders()
	gone := fault.Nth(1, func(context.Context) error {
		l.redis.Flush()
		return nil
	})
	handler := l.handler
	l.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(fault.With(r.Context(), lock.PointAcquired, gone)))
	})
	require.NoError(t, l.tell(0))
	require.Equal(t, map[string]int64{"late": 1}, l.turns())
	require.NoError(t, l.tell(1))
	require.Equal(t, map[string]int64{"late": 1, "held": 1}, l.turns())
	require.Equal(t, map[string]int{orderOf(0): 1, orderOf(1): 1}, l.applied)
	require.False(t, l.switched())
}

func TestBadRedisURLIsAnErrorWithoutItsPassword(t *testing.T) {
	t.Parallel()
	_, _, err := openLock(t.Context(), "redis://ann:sesame@host:port", usualTimes, nil, nil, nil)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sesame")
}
