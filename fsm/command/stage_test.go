package command_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// patience bounds every wait of a staged race. It is there to fail a test that
// would hang, and is never waited out by one that passes.
const patience = 20 * time.Second

// business is the tables that the work of these tests writes.
const business = `
CREATE TABLE ledger (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ref text NOT NULL, cents bigint NOT NULL);
CREATE TABLE stock (sku text PRIMARY KEY, pieces int NOT NULL CHECK (pieces >= 0), fence bigint NOT NULL DEFAULT 0);
INSERT INTO stock VALUES ('pen', 1), ('ink', 0);`

func open(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	run(t, pool, business)
	return pool
}

func run(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// sqlDB is the pool as database/sql.
func sqlDB(t *testing.T, pool *pgxpool.Pool) *sql.DB {
	t.Helper()
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// ask scans one value.
func ask[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, pool.QueryRow(t.Context(), sql, args...).Scan(&v))
	return v
}

func ledger(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return ask[int](t, pool, `SELECT count(*) FROM ledger`)
}

// payment is a request to pay an order.
func payment(key, body string) command.Request {
	return command.Request{
		Scope: "acme", Key: key, Principal: "ann", Method: "POST", Path: "/orders/17/pay",
		ContentType: "application/json", Body: []byte(body),
	}
}

// pay writes a ledger row and says so.
func pay(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
	if _, err := tx.Exec(ctx, `INSERT INTO ledger (ref, cents) VALUES ('order 17', 100)`); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{
		Status: 201, Body: []byte(`{"paid":100}`),
		Header: http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/1"}, "Set-Cookie": {"secret=1"}},
	}, nil
}

func never(context.Context, pgx.Tx) (command.Reply, error) {
	return command.Reply{}, errors.New("this must not run")
}

// blocking is work that tells when it has begun, then waits to be let go on.
type blocking struct {
	begun chan struct{}
	goOn  chan struct{}
}

func newBlocking() blocking { return blocking{make(chan struct{}), make(chan struct{})} }

func (b blocking) wait(ctx context.Context) error {
	close(b.begun)
	select {
	case <-b.goOn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// then is work that blocks and goes on as another.
func (b blocking) then(work command.Work) command.Work {
	return func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		if err := b.wait(ctx); err != nil {
			return command.Reply{}, err
		}
		return work(ctx, tx)
	}
}

type leaveKey struct{}

// mayLeave is the context of a caller who is gone once the work calls leave.
func mayLeave(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return context.WithValue(ctx, leaveKey{}, cancel)
}

// leave has the caller of mayLeave go, and waits until its context says so.
func leave(ctx context.Context) error {
	ctx.Value(leaveKey{}).(context.CancelFunc)()
	<-ctx.Done()
	return ctx.Err()
}

// result is what a call in a goroutine was told.
type result struct {
	command.Answer
	err error
}

func start(call func() (command.Answer, error)) <-chan result {
	done := make(chan result, 1)
	go func() {
		answer, err := call()
		done <- result{answer, err}
	}()
	return done
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// waitUntil asks the server again and again until it says yes: its own view is the
// signal.
func waitUntil(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for yes := false; !yes; <-tick.C {
		require.NoError(t, pool.QueryRow(ctx, sql, args...).Scan(&yes), "it never came true: %s", sql)
	}
}

// waiting is true once n sessions of the database wait for locks.
const waiting = `SELECT count(*) >= $1 FROM pg_stat_activity
	WHERE datname = current_database() AND wait_event_type = 'Lock'`
