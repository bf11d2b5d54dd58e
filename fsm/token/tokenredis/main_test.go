package tokenredis_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/testredis"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var pay = token.Kind{Name: "pay", TTL: 30 * time.Minute, Keep: 24 * time.Hour}

const (
	ann     = "customer:1"
	bob     = "customer:2"
	order42 = "pay order 42"
)

var errBusiness = errors.New("out of stock")

// stage is a store with servers of its own.
type stage struct {
	*tokenredis.Store
	t      *testing.T
	pool   *pgxpool.Pool
	redis  *testredis.Server
	client rueidis.Client
}

// lasting is a store whose leases and waits are over in no test.
var lasting = tokenredis.Config{Lease: time.Minute, Down: time.Hour, Call: 2 * time.Second}

func open(t *testing.T, c tokenredis.Config) *stage {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := pool.Exec(t.Context(), `CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, note text NOT NULL)`)
	require.NoError(t, err)
	server := testredis.Start(t)
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	s := &stage{t: t, pool: pool, redis: server, client: client}
	s.Store = s.store(c)
	return s
}

// store is another process's store on the same servers.
func (s *stage) store(c tokenredis.Config) *tokenredis.Store {
	s.t.Helper()
	store, err := tokenredis.New(s.client, s.pool, c)
	require.NoError(s.t, err)
	return store
}

func (s *stage) issue() token.Token {
	s.t.Helper()
	tok, err := s.Issue(s.t.Context(), pay, ann, order42)
	require.NoError(s.t, err)
	return tok
}

func (s *stage) count(query string) int {
	s.t.Helper()
	var n int
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), query).Scan(&n))
	return n
}

func (s *stage) effects() int { return s.count(`SELECT count(*) FROM effects`) }

// key is the only key in Redis.
func (s *stage) key() string {
	s.t.Helper()
	keys, err := s.client.Do(s.t.Context(), s.client.B().Keys().Pattern("*").Build()).AsStrSlice()
	require.NoError(s.t, err)
	require.Len(s.t, keys, 1)
	return keys[0]
}

// leaseIsOver reports whether the lease of the only token has run out, by Redis's clock.
func (s *stage) leaseIsOver(tok token.Token) bool {
	s.t.Helper()
	until, err := strconv.ParseInt(s.field(tok, "lease"), 10, 64)
	require.NoError(s.t, err)
	now, err := s.client.Do(s.t.Context(), s.client.B().Time().Build()).AsStrSlice()
	require.NoError(s.t, err)
	seconds, err := strconv.ParseInt(now[0], 10, 64)
	require.NoError(s.t, err)
	micros, err := strconv.ParseInt(now[1], 10, 64)
	require.NoError(s.t, err)
	return until <= seconds*1000+micros/1000
}

// field is one of what Redis has of the only token.
func (s *stage) field(tok token.Token, name string) string {
	s.t.Helper()
	text, err := s.client.Do(s.t.Context(), s.client.B().Hget().Key(s.key()).Field(name).Build()).ToString()
	if rueidis.IsRedisNil(err) {
		return ""
	}
	require.NoError(s.t, err)
	return text
}

// works does something that can be counted, and replies.
func works(reply string) token.Business {
	return func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		_, err := tx.Exec(ctx, `INSERT INTO effects (note) VALUES ($1)`, reply)
		return []byte(reply), err
	}
}

// during works, and has something happen in the middle.
func during(event func()) token.Business {
	return func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		event()
		return works("paid")(ctx, tx)
	}
}

// never is the business of a use that must not come to it.
func (s *stage) never(context.Context, pgx.Tx) ([]byte, error) {
	s.t.Error("the business ran")
	return nil, nil
}

// reason is why a token was refused, for which the error alone says nothing.
func reason(t *testing.T, err error) token.Reason {
	t.Helper()
	require.ErrorIs(t, err, token.ErrInvalid)
	require.EqualError(t, err, "token is not valid")
	var invalid *token.InvalidError
	require.ErrorAs(t, err, &invalid)
	return invalid.Reason
}

// use is a use that must replay, or not, what was replied first.
func (s *stage) use(store *tokenredis.Store, tok token.Token, replayed bool) token.Result {
	s.t.Helper()
	fn := works("paid")
	if replayed {
		fn = s.never
	}
	r, err := store.Use(s.t.Context(), tok, ann, order42, fn)
	require.NoError(s.t, err)
	require.Equal(s.t, replayed, r.Replayed)
	require.Equal(s.t, "paid", string(r.Reply))
	return r
}

// awaitWaiter returns when a statement waits for a lock.
func (s *stage) awaitWaiter() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.count(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, 20*time.Second, 5*time.Millisecond)
}
