package lockredis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/testredis"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

const (
	name = "account 1"
	key  = "pawl:lock:account 1"
)

var errBusiness = errors.New("business failed")

// lasting has locks that run out in no test, and waits for longer than any.
var lasting = lockredis.Config{TTL: time.Hour, MaxHold: time.Hour, Wait: time.Minute, Call: 10 * time.Second}

// short has locks that run out while a test watches.
var short = lockredis.Config{TTL: 2 * time.Second, MaxHold: time.Hour, Wait: time.Minute, Call: time.Second}

type stage struct {
	t      *testing.T
	pool   *pgxpool.Pool
	redis  *testredis.Server
	client rueidis.Client
}

// open returns servers, and one account with the fencing value of who wrote last.
func open(t *testing.T) *stage {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := pool.Exec(t.Context(), `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, fence bigint NOT NULL DEFAULT 0);
		INSERT INTO accounts VALUES (1, 100)`)
	require.NoError(t, err)
	s := &stage{t: t, pool: pool, redis: testredis.Start(t)}
	s.client = s.connect(s.redis.Addr)
	return s
}

func (s *stage) connect(addr string) rueidis.Client {
	s.t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	require.NoError(s.t, err)
	s.t.Cleanup(client.Close)
	return client
}

// locker is that of another process on the same servers.
func (s *stage) locker(c lockredis.Config) *lockredis.Locker {
	s.t.Helper()
	l, err := lockredis.New(s.client, s.pool, c)
	require.NoError(s.t, err)
	return l
}

// owner is who holds the lock, or empty.
func (s *stage) owner() string {
	s.t.Helper()
	text, err := s.client.Do(s.t.Context(), s.client.B().Get().Key(key).Build()).ToString()
	if rueidis.IsRedisNil(err) {
		return ""
	}
	require.NoError(s.t, err)
	return text
}

// awaitFree returns when nobody holds the lock.
func (s *stage) awaitFree() {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.owner() == "" }, 20*time.Second, 2*time.Millisecond)
}

// fenced is the guarded update of a holder, and returns how many rows it changed.
func (s *stage) fenced(fence int64) int64 {
	s.t.Helper()
	tag, err := s.pool.Exec(s.t.Context(), fencedSQL, fence)
	require.NoError(s.t, err)
	return tag.RowsAffected()
}

const fencedSQL = `UPDATE accounts SET balance = balance - 1, fence = $1 WHERE id = 1 AND fence < $1`

func (s *stage) balance() (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), `SELECT balance FROM accounts WHERE id = 1`).Scan(&n))
	return n
}

// never is the function of a lock that must not be had.
func (s *stage) never(context.Context, lock.Held) error {
	s.t.Error("the function ran")
	return nil
}

func nothing(context.Context, lock.Held) error { return nil }

// deaf has the watchdog of a context fail, as if nothing of it got through.
func deaf(ctx context.Context) context.Context {
	calls := fault.Nth(1, func(context.Context) error { return nil }) // the renewal after the fencing value
	first := true
	return fault.With(ctx, lockredis.PointRenew, func(ctx context.Context) error {
		if first {
			first = false
			return calls(ctx)
		}
		return fault.ErrInjected
	})
}

// untilLost waits for the end of a holder's context.
func (s *stage) untilLost(ctx context.Context) {
	s.t.Helper()
	<-ctx.Done()
	require.ErrorIs(s.t, context.Cause(ctx), lock.ErrLost)
}

func judge(ctx context.Context, tx pgx.Tx) (balance int, err error) {
	err = tx.QueryRow(ctx, `SELECT balance FROM accounts WHERE id = 1`).Scan(&balance)
	return balance, err
}

func take(ctx context.Context, tx pgx.Tx, balance int, fence int64) (int64, error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = $1 - 1, fence = $2 WHERE id = 1 AND balance = $1 AND fence < $2`, balance, fence)
	return tag.RowsAffected(), err
}
