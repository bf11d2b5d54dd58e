package relay_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// patience bounds every wait of a test. It fails one that would hang, and is
// never waited out by one that passes.
const patience = 30 * time.Second

var errRefused = errors.New("refused by the test")

// open returns a database with the relay's tables.
func open(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return testdb.New(t, testdb.WithMigrations(migrations.FS), testdb.WithMaxConns(16))
}

// emit writes an outbox row as a transition of a row of business does.
func emit(t testing.TB, db fsm.DB, key string, version int) {
	t.Helper()
	_, err := db.Exec(t.Context(), `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		VALUES ('order', $1, $2, 'pay', 'order_paid', jsonb_build_object('key', $1::text, 'version', $2::bigint), now())`, key, version)
	require.NoError(t, err)
}

// emitted is a database in which each of the keys has rows of versions 1 to n,
// all of version 1 before those of version 2.
func emitted(t testing.TB, n int, keys ...string) *pgxpool.Pool {
	t.Helper()
	pool := open(t)
	for version := 1; version <= n; version++ {
		for _, key := range keys {
			emit(t, pool, key, version)
		}
	}
	return pool
}

// broker is a publisher that remembers what it accepted. It is safe for
// concurrent use.
type broker struct {
	mu       sync.Mutex
	accepted []relay.Message
	// judge may refuse a message, or wait; nil accepts all.
	judge func(ctx context.Context, m relay.Message) error
}

func (b *broker) Publish(ctx context.Context, m relay.Message) error {
	if b.judge != nil {
		if err := b.judge(ctx, m); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accepted = append(b.accepted, m)
	return nil
}

// told is the versions that were accepted of a key, in the order of arrival.
func (b *broker) told(key string) []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	versions := []int64{}
	for _, m := range b.accepted {
		if m.Key == key {
			versions = append(versions, m.Version)
		}
	}
	return versions
}

func (b *broker) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, m := range b.accepted {
		all = append(all, fmt.Sprintf("%s %d", m.Key, m.Version))
	}
	return all
}

// refuse refuses the messages of keys.
func refuse(keys ...string) func(context.Context, relay.Message) error {
	return func(_ context.Context, m relay.Message) error {
		for _, key := range keys {
			if m.Key == key {
				return errRefused
			}
		}
		return nil
	}
}

func upTo(n int) []int64 {
	var versions []int64
	for v := range n {
		versions = append(versions, int64(v+1))
	}
	return versions
}

// again has failed messages be due at once.
func again(int) time.Duration { return 0 }

// once makes one round, which must not fail.
func once(t testing.TB, r *relay.Relay) int {
	t.Helper()
	n, err := r.Once(t.Context())
	require.NoError(t, err)
	return n
}

// drain makes rounds until nothing is left.
func drain(t testing.TB, r *relay.Relay, pool *pgxpool.Pool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for count(t, pool, "fsm_outbox") > 0 {
		require.True(t, time.Now().Before(deadline), "the outbox is not empty")
		once(t, r)
	}
}

// running starts a relay, and returns what stops it and waits for its end.
func running(t testing.TB, r *relay.Relay) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	var stopped sync.Once
	stop = func() {
		stopped.Do(func() {
			cancel()
			select {
			case err := <-done:
				require.ErrorIs(t, err, context.Canceled)
			case <-time.After(patience):
				require.FailNow(t, "the relay does not stop")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// until asks again and again until the database says yes.
func until(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ask := time.NewTicker(2 * time.Millisecond)
	defer ask.Stop()
	for yes := false; !yes; {
		<-ask.C
		require.NoError(t, pool.QueryRow(ctx, sql, args...).Scan(&yes), "it did not come to: %s", sql)
	}
}

func untilEmpty(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	until(t, pool, `SELECT NOT EXISTS (SELECT FROM fsm_outbox)`)
}

func count(t testing.TB, db fsm.DB, table string) int {
	t.Helper()
	var n int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n))
	return n
}

func execute(t testing.TB, db fsm.DB, sql string, args ...any) {
	t.Helper()
	_, err := db.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}
