package acceptance

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
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testpgbouncer"
)

// More callers than the pooler has connections to the server.
const (
	poolerCallers = 6
	poolerOrders  = 5 // of each caller
	poolerServer  = 2
)

// unknown are the settings that a coalescer asks of its connections: PgBouncer knows
// none of them, and has to be told to let them pass.
var unknown = testpgbouncer.Setting{Name: "ignore_startup_parameters", Value: "default_transaction_isolation, plan_cache_mode, enable_seqscan, lock_timeout, statement_timeout"}

// pooled is a pool over a pooler's URL that sends its statements in a mode.
func (s *shop) pooled(url string, mode pgx.QueryExecMode) *pgxpool.Pool {
	s.t.Helper()
	config, err := pgxpool.ParseConfig(url)
	require.NoError(s.t, err)
	config.MaxConns, config.ConnConfig.DefaultQueryExecMode = poolerCallers, mode
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(pool.Close)
	return pool
}

// pooledCall tells of one order's payment in one of the ways to tell of it.
type pooledCall struct {
	name string
	tell func(ctx context.Context, pool *pgxpool.Pool, c *payments, item order.PaymentSucceededItem) (fsm.Outcome, error)
}

func pooledCalls() []pooledCall {
	return []pooledCall{
		{"alone", func(ctx context.Context, pool *pgxpool.Pool, _ *payments, item order.PaymentSucceededItem) (fsm.Outcome, error) {
			r, err := order.PaymentSucceeded(ctx, pool, item.Key, item.Params)
			return r.Outcome, err
		}},
		{"with Then", func(ctx context.Context, pool *pgxpool.Pool, _ *payments, item order.PaymentSucceededItem) (fsm.Outcome, error) {
			r, err := order.PaymentSucceeded(ctx, pool, item.Key, item.Params, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
				_, err := order.Get(ctx, tx, item.Key)
				return err
			}))
			return r.Outcome, err
		}},
		{"in the caller's transaction", func(ctx context.Context, pool *pgxpool.Pool, _ *payments, item order.PaymentSucceededItem) (told fsm.Outcome, err error) {
			err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				r, err := order.PaymentSucceeded(ctx, tx, item.Key, item.Params, fsm.At(noon))
				if err == nil {
					_, err = order.History(ctx, tx, item.Key, 0, 10)
				}
				told = r.Outcome
				return err
			})
			return told, err
		}},
		{"batch", func(ctx context.Context, pool *pgxpool.Pool, _ *payments, item order.PaymentSucceededItem) (fsm.Outcome, error) {
			results, err := order.PaymentSucceededBatch(ctx, pool, []order.PaymentSucceededItem{item, item})
			if err != nil {
				return "", err
			}
			if results[1].Result.Outcome != fsm.Replayed {
				return "", fmt.Errorf("the second item is %q: %w", results[1].Result.Outcome, results[1].Err)
			}
			return results[0].Result.Outcome, results[0].Err
		}},
		{"coalesced", func(ctx context.Context, _ *pgxpool.Pool, c *payments, item order.PaymentSucceededItem) (fsm.Outcome, error) {
			r, err := c.Fire(ctx, item)
			return r.Outcome, err
		}},
	}
}

// tellAll tells of orders that nobody has heard of, twice each, by many callers at
// once.
func (s *shop) tellAll(pool *pgxpool.Pool, call pooledCall) error {
	s.t.Helper()
	s.exec("TRUNCATE orders, order_history, order_facts, fsm_outbox")
	s.insertOrders(1, poolerCallers*poolerOrders)
	c := s.coalescer(pool, fsm.Coalescing{Workers: poolerServer})
	errs := make([]error, poolerCallers)
	var wg sync.WaitGroup
	for i := range poolerCallers {
		wg.Go(func() {
			for n := 1 + i*poolerOrders; n <= (i+1)*poolerOrders && errs[i] == nil; n++ {
				for _, want := range []fsm.Outcome{fsm.Applied, fsm.Replayed} {
					got, err := call.tell(s.t.Context(), pool, c, paying(keyOf(n), fmt.Sprint("P", n), due))
					if err == nil && got != want {
						err = fmt.Errorf("order %d: %s, not %s", n, got, want)
					}
					errs[i] = errors.Join(errs[i], err)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// All calls work through a pooler that gives its connections out for a transaction
// each, in the modes of pgx that keep nothing on a connection, and with prepared
// statements where the pooler follows them. This is the table of
// docs/pgbouncer.md.
func TestThroughAPooler(t *testing.T) {
	t.Parallel()
	follow := testpgbouncer.Setting{Name: "max_prepared_statements", Value: "100"}
	for _, tc := range []struct {
		mode     pgx.QueryExecMode
		settings []testpgbouncer.Setting
	}{
		{pgx.QueryExecModeCacheDescribe, nil},
		{pgx.QueryExecModeExec, nil},
		{pgx.QueryExecModeSimpleProtocol, nil},
		{pgx.QueryExecModeCacheStatement, []testpgbouncer.Setting{follow}},
	} {
		t.Run(tc.mode.String(), func(t *testing.T) {
			t.Parallel()
			if len(tc.settings) > 0 && !testpgbouncer.Prepares(t) {
				t.Skip("this PgBouncer does not follow prepared statements: 1.21 does")
			}
			s := open(t)
			pool := s.pooled(testpgbouncer.Start(t, s.pool.Config().ConnString(), poolerServer, append(tc.settings, unknown)...), tc.mode)
			for _, call := range pooledCalls() {
				require.NoError(t, s.tellAll(pool, call), call.name)
				require.Equal(t, fmt.Sprint(poolerCallers*poolerOrders), s.text("SELECT count(*)::text FROM order_facts WHERE outcome = 'Applied'"), call.name)
			}
			s.insertOrders(1001, 1003)
			s.exec("UPDATE orders SET deadline_at = $1 WHERE status = 'PENDING'", noon)
			swept, err := (&fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}).Once(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3, swept)
		})
	}
}

// Statements prepared by name are on one connection of the server's, and two clients
// give the same statement the same name. It is known then that nothing was done.
func TestPreparedStatementsAreLostInAPooler(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.insertOrders(1, 1)
	var off []testpgbouncer.Setting
	if testpgbouncer.Prepares(t) {
		off = append(off, testpgbouncer.Setting{Name: "max_prepared_statements", Value: "0"})
	}
	url := testpgbouncer.Start(t, s.pool.Config().ConnString(), 1, off...)
	for i, want := range []error{nil, fsm.ErrNothingDone} {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.Background()) }()
		_, err = order.Pay(t.Context(), conn, keyOf(1))
		require.ErrorIs(t, err, want, "client %d", i+1)
	}
}

// A coalescer's settings come with its connections. PgBouncer refuses those that it
// does not know, unless told to ignore them; then the database's own hold.
func TestACoalescersSettingsThroughAPooler(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.insertOrders(1, 1)
	url := s.pool.Config().ConnString()
	_, err := fsm.NewCoalescer(t.Context(), s.pooled(testpgbouncer.Start(t, url, 1), pgx.QueryExecModeExec), order.PaymentSucceededBatch, fsm.Coalescing{})
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.ErrorContains(t, err, "unsupported startup parameter")

	s.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = ''50ms''', current_database()); END $$`)
	c := s.coalescer(s.pooled(testpgbouncer.Start(t, url, 2, unknown), pgx.QueryExecModeExec), fsm.Coalescing{LockTimeout: time.Hour})
	held := s.begin(pgx.TxOptions{})
	_, err = held.Exec(t.Context(), "SELECT FROM orders FOR UPDATE")
	require.NoError(t, err)
	_, err = c.Fire(t.Context(), paying(keyOf(1), "P", due))
	require.True(t, fsm.Retryable(err), "%v", err)
	require.NoError(t, held.Rollback(t.Context()))
	r, err := c.Fire(t.Context(), paying(keyOf(1), "P", due))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
}

// A lock is a transaction's, so that the pooler gives its connection to nobody else.
func TestALockThroughAPooler(t *testing.T) {
	t.Parallel()
	s := open(t)
	pool := s.pooled(testpgbouncer.Start(t, s.pool.Config().ConnString(), 3), pgx.QueryExecModeExec)
	lockers := make([]*lock.Postgres, 2)
	for i := range lockers {
		var err error
		lockers[i], err = lock.NewPostgres(pool, lock.Config{MaxHold: patience, Wait: 500 * time.Millisecond})
		require.NoError(t, err)
	}
	err := lockers[0].With(t.Context(), "name", func(ctx context.Context, first lock.Held) error {
		err := lockers[1].With(ctx, "name", func(context.Context, lock.Held) error { return errors.New("two hold it") })
		require.ErrorIs(t, err, lock.ErrNotAcquired)
		return lockers[1].With(ctx, "other", func(_ context.Context, second lock.Held) error {
			require.Greater(t, second.Fence(), first.Fence())
			return nil
		})
	})
	require.NoError(t, err)
}
