package consumeredis_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumeredis"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/testredis"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var _ consume.Front = (*consumeredis.Front)(nil)

// timeout is how long a call of these tests waits for Redis.
const timeout = 500 * time.Millisecond

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type fixture struct {
	*consume.Consumer
	db    *pgxpool.Pool
	redis *testredis.Server
	front *consumeredis.Front
	clock *clock
	last  consume.Report
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{db: testdb.New(t, testdb.WithMigrations(migrations.FS)), redis: testredis.Start(t), clock: &clock{now: time.Unix(1e9, 0)}}
	_, err := f.db.Exec(t.Context(), `CREATE TABLE effects (key text NOT NULL)`)
	require.NoError(t, err)
	f.front, err = consumeredis.New(rueidis.ClientOption{InitAddress: []string{f.redis.Addr}},
		consumeredis.Options{Timeout: timeout, Pause: time.Second, Now: f.clock.Now})
	require.NoError(t, err)
	t.Cleanup(f.front.Close)
	f.Consumer = &consume.Consumer{DB: f.db, Name: "shipping", Lease: time.Minute, Tries: 3, Front: f.front,
		Observe: func(_ context.Context, r consume.Report) { f.last = r }}
	return f
}

func effect(ctx context.Context, tx pgx.Tx, m consume.Message) error {
	_, err := tx.Exec(ctx, `INSERT INTO effects (key) VALUES ($1)`, string(m.Payload))
	return err
}

func (f *fixture) deliver(t *testing.T, key string, want consume.Outcome, byFront bool) {
	t.Helper()
	out, err := f.Consume(t.Context(), key, consume.Message{Payload: []byte(key)}, effect)
	require.NoError(t, err)
	require.Equal(t, want, out, key)
	require.Equal(t, byFront, f.last.Front, key)
}

func (f *fixture) once(t *testing.T, keys int) {
	t.Helper()
	var all, different int
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT key) FROM effects`).Scan(&all, &different))
	require.Equal(t, keys, different)
	require.Equal(t, keys, all)
}

// client is a client of the test's own, beside the front's.
func (f *fixture) client(t *testing.T) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{f.redis.Addr}, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestDuplicatesDoNotReachTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "k", consume.Done, false)
	f.deliver(t, "k", consume.Duplicate, true)
	f.redis.Flush()
	f.deliver(t, "k", consume.Duplicate, false) // the database knows it, and tells the front again
	f.deliver(t, "k", consume.Duplicate, true)
	f.once(t, 1)
	require.Equal(t, consumeredis.Counts{Hits: 2, Misses: 2}, f.front.Counts())
	other := *f.Consumer
	other.Name = "billing"
	out, err := other.Consume(t.Context(), "k", consume.Message{Payload: []byte("billed")}, effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)

	ttl, err := f.client(t).Do(t.Context(), f.client(t).B().Pttl().Key("consume:8:shipping:k").Build()).AsInt64()
	require.NoError(t, err)
	require.Greater(t, ttl, int64(59*60*1000))
	require.LessOrEqual(t, ttl, int64(60*60*1000))
}

// Of a batch the front answers for those it knows, and the database for the others.
func TestBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "a", consume.Done, false)
	f.deliver(t, "b", consume.Done, false)
	client := f.client(t)
	require.NoError(t, client.Do(t.Context(), client.B().Del().Key("consume:8:shipping:b").Build()).Error())
	byFront := map[string]bool{}
	f.Observe = func(_ context.Context, r consume.Report) { byFront[r.Key] = r.Front }
	var items []consume.Item
	for _, key := range []string{"c", "a", "b", "d"} {
		items = append(items, consume.Item{Key: key, Message: consume.Message{Payload: []byte(key)}})
	}
	require.Equal(t, []consume.Result{
		{Outcome: consume.Done}, {Outcome: consume.Duplicate}, {Outcome: consume.Duplicate}, {Outcome: consume.Done},
	}, f.ConsumeBatch(t.Context(), items, effect))
	require.Equal(t, map[string]bool{"a": true, "b": false, "c": false, "d": false}, byFront)
	require.Equal(t, []string{"c", "a", "b", "d"}, f.front.Known(t.Context(), "shipping", []string{"c", "a", "b", "x", "d"}))
	f.once(t, 4)
}

// The report: a message is marked as seen before its work, and the retry is dropped.
// The front is told of a key only after its commit.
func TestMarkedSeenBeforeTheWork(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	boom := fmt.Errorf("boom")
	out, err := f.Consume(t.Context(), "k", consume.Message{}, func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
		require.Empty(t, f.front.Known(ctx, "shipping", []string{"k"}), "while it is handled")
		return boom
	})
	require.Equal(t, boom, err)
	require.Equal(t, consume.Failed, out)
	require.Empty(t, f.front.Known(t.Context(), "shipping", []string{"k"}), "after it failed")
	f.deliver(t, "k", consume.Done, false)
	f.once(t, 1)

	client := f.client(t)
	naive := func(handle func() error) { // SETNX first, as many do
		if client.Do(t.Context(), client.B().Set().Key("naive").Value("1").Nx().Build()).Error() == nil {
			_ = handle()
		}
	}
	handled := 0
	naive(func() error { return boom })
	naive(func() error { handled++; return nil })
	require.Zero(t, handled, "the naive consumer loses the message")
}

// What stands under the front's names and is not its own counts for nothing.
func TestWrongEntries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.client(t)
	f.deliver(t, "other", consume.Done, false)
	mark, err := client.Do(t.Context(), client.B().Get().Key("consume:8:shipping:other").Build()).ToString()
	require.NoError(t, err)
	for _, command := range []rueidis.Completed{
		client.B().Set().Key("consume:8:shipping:text").Value("1").Build(),
		client.B().Set().Key("consume:8:shipping:empty").Value("").Build(),
		client.B().Set().Key("consume:8:shipping:moved").Value(mark).Build(),
		client.B().Rpush().Key("consume:8:shipping:list").Element("done").Build(),
	} {
		require.NoError(t, client.Do(t.Context(), command).Error())
	}
	for _, key := range []string{"text", "empty", "moved", "list"} {
		f.deliver(t, key, consume.Done, false)
		f.deliver(t, key, consume.Duplicate, true)
	}
	f.once(t, 5)
	require.Zero(t, f.front.Counts().Failures)
}

// Redis is killed, stays away, and comes back: PostgreSQL decides meanwhile.
func TestRedisDies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "a", consume.Done, false)
	f.redis.Kill()
	for range 20 {
		f.deliver(t, "a", consume.Duplicate, false)
	}
	f.deliver(t, "b", consume.Done, false)
	counts := f.front.Counts()
	require.Equal(t, int64(1), counts.Failures, "one call paid for it")
	require.Equal(t, int64(41), counts.Skipped, "21 deliveries ask and tell, and the first one asked in vain")
	f.redis.Restart()
	f.deliver(t, "b", consume.Duplicate, false) // the pause is not over
	f.clock.pass(time.Second)
	f.untilBack(t, "b")
	f.once(t, 2)
}

// untilBack delivers a key that is done until the front knows it. After a kill the
// client's connection is made anew, which may take it a call.
func (f *fixture) untilBack(t *testing.T, key string) {
	t.Helper()
	for range 50 {
		f.clock.pass(time.Second)
		out, err := f.Consume(t.Context(), key, consume.Message{Payload: []byte(key)}, effect)
		require.NoError(t, err)
		require.Equal(t, consume.Duplicate, out, key)
		if f.last.Front {
			return
		}
	}
	require.Fail(t, "Redis is not asked any more")
}

// Redis stands still: a call waits for no longer than the bound, and those after it
// do not wait at all.
func TestRedisStandsStill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "a", consume.Done, false)
	f.redis.Pause()
	begin := time.Now()
	require.Empty(t, f.front.Known(t.Context(), "shipping", []string{"a"}))
	first := time.Since(begin)
	require.GreaterOrEqual(t, first, timeout)
	require.Less(t, first, 20*timeout)
	begin = time.Now()
	for range 1000 {
		require.Empty(t, f.front.Known(t.Context(), "shipping", []string{"a"}))
		f.front.Remember(t.Context(), "shipping", []string{"a"})
	}
	t.Logf("the first call took %v, 2,000 calls after it %v", first, time.Since(begin))
	require.Less(t, time.Since(begin), 200*timeout)
	require.Equal(t, int64(2000), f.front.Counts().Skipped)
	f.deliver(t, "a", consume.Duplicate, false)
	f.deliver(t, "b", consume.Done, false)
	f.redis.Resume()
	f.untilBack(t, "b")
	f.once(t, 2)
}

// A service starts without Redis, and uses it when it comes.
func TestStartWithoutRedis(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.redis.Kill()
	f.deliver(t, "a", consume.Done, false)
	f.deliver(t, "a", consume.Duplicate, false)
	f.redis.Restart()
	f.untilBack(t, "a")
	f.front.Close()
	f.deliver(t, "a", consume.Duplicate, false)
	f.once(t, 1)
}

// After the pause one call finds out for all.
func TestOneCallTries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "a", consume.Done, false)
	f.redis.Pause()
	f.front.Known(t.Context(), "shipping", []string{"a"})
	f.clock.pass(time.Second)
	before := f.front.Counts()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 20 {
		wg.Go(func() {
			<-start
			f.front.Known(t.Context(), "shipping", []string{"a"})
		})
	}
	close(start)
	wg.Wait()
	after := f.front.Counts()
	require.Equal(t, int64(1), after.Failures-before.Failures)
	require.Equal(t, int64(19), after.Skipped-before.Skipped)
	f.redis.Resume()
}

// A caller that goes away says nothing of Redis.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.deliver(t, "a", consume.Done, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, f.front.Known(ctx, "shipping", []string{"a"}))
	require.Zero(t, f.front.Counts().Failures)
	f.deliver(t, "a", consume.Duplicate, true)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []consumeredis.Options{{TTL: -1}, {Timeout: -1}, {Pause: -1}, {TTL: time.Microsecond}} {
		_, err := consumeredis.New(rueidis.ClientOption{}, o)
		require.ErrorIs(t, err, consumeredis.ErrOption)
	}
}

// Redis is killed, restarted, stopped and emptied while messages and duplicates come.
func TestRedisUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Consumer.Observe = nil
	const messages = 200
	work := make(chan int)
	var wg sync.WaitGroup
	var longest [4]time.Duration
	for worker := range longest {
		wg.Go(func() {
			for n := range work {
				key := fmt.Sprint(n)
				begin := time.Now()
				out, err := f.Consume(t.Context(), key, consume.Message{Payload: []byte(key)}, effect)
				longest[worker] = max(longest[worker], time.Since(begin))
				f.clock.pass(50 * time.Millisecond)
				if err != nil && out != consume.InProgress {
					t.Error(err)
				}
			}
		})
	}
	for n := range 2 * messages {
		switch n {
		case 40:
			f.redis.Kill()
		case 80:
			f.redis.Restart()
		case 120:
			f.redis.Pause()
		case 160:
			f.redis.Resume()
		case 240:
			f.redis.Flush()
		case 300:
			f.redis.Kill()
		case 340:
			f.redis.Restart()
		}
		work <- n % messages
	}
	close(work)
	wg.Wait()
	f.once(t, messages)
	t.Logf("%+v; the longest calls took %v", f.front.Counts(), strings.Trim(fmt.Sprint(longest), "[]"))
}
