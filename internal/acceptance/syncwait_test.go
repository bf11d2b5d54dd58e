package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// standbyless is a shop on a server that waits at each COMMIT for a standby which is
// not there. The shop's own sessions do not wait; those of waiting do.
type standbyless struct {
	*shop
	server *localpg.Server
}

func openStandbyless(t *testing.T, keys ...order.Key) *standbyless {
	t.Helper()
	server, err := localpg.Start(t.Context(), localpg.Options{Fast: true, Settings: [][2]string{
		{"synchronous_commit", "on"}, {"synchronous_standby_names", "*"},
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop() })
	s := &standbyless{&shop{t, testdb.New(t, testdb.WithMigrations(migrations.FS),
		testdb.WithServer(server.URL+"&options=-c%20synchronous_commit%3Dlocal"))}, server}
	s.create(keys...)
	return s
}

// waiting is a pool whose commits wait, and which is told of cancelled waits or not.
func (s *standbyless) waiting(watched bool) *pgxpool.Pool {
	s.t.Helper()
	config := s.pool.Config()
	delete(config.ConnConfig.RuntimeParams, "options")
	if watched {
		fsm.WatchSyncWaits(&config.ConnConfig.Config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(pool.Close)
	return pool
}

const waitsForStandby = `datname = current_database() AND wait_event = 'SyncRep'`

// untilWaiting returns when a session waits for a standby.
func (s *standbyless) untilWaiting(done <-chan answer) {
	s.t.Helper()
	waitFor(s.t, s.pool, done, `SELECT count(*) >= $1 FROM pg_stat_activity WHERE `+waitsForStandby, 1)
}

// cancelled makes a call, and has the server cancel its wait for the standby.
func (s *standbyless) cancelled(pool *pgxpool.Pool, call act) answer {
	s.t.Helper()
	done := start(s.t.Context(), pool, call)
	s.untilWaiting(done)
	s.exec(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ` + waitsForStandby)
	return finish(s.t, done)
}

// overSQL makes the call in a transaction of database/sql.
func overSQL(pool *pgxpool.Pool, call act) (told string, err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	if err != nil {
		return "", err
	}
	if told, err = call(context.Background(), fsm.SQLTx(tx)); err != nil {
		return "", err
	}
	return told, tx.Commit()
}

// commitWays are the ways in which a payment is told and committed. own says that the
// COMMIT is the caller's, whose error is pgx's.
func commitWays(s *standbyless) []struct {
	name string
	own  bool
	tell func(*pgxpool.Pool) act
} {
	tell := paid(key1, "P1", due)
	return []struct {
		name string
		own  bool
		tell func(*pgxpool.Pool) act
	}{
		{"a call", false, func(*pgxpool.Pool) act { return tell }},
		{"with Then", false, func(*pgxpool.Pool) act {
			return paid(key1, "P1", due, order.Then(func(context.Context, pgx.Tx, order.Result) error { return nil }))
		}},
		{"RunTx", false, func(pool *pgxpool.Pool) act {
			return func(ctx context.Context, _ fsm.DB) (got string, err error) {
				runs := 0
				err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
					runs++
					got, err = tell(ctx, tx)
					return err
				})
				require.Equal(s.t, 1, runs)
				return got, err
			}
		}},
		{"a batch", false, func(pool *pgxpool.Pool) act {
			return func(ctx context.Context, _ fsm.DB) (string, error) {
				results, err := order.PaymentSucceededBatch(ctx, pool, []order.PaymentSucceededItem{paying(key1, "P1", due)})
				if err != nil {
					return "", err
				}
				return told(results[0].Result), results[0].Err
			}
		}},
		{"a coalescer", false, func(pool *pgxpool.Pool) act {
			return through(s.coalescer(pool, fsm.Coalescing{Workers: 1}), paying(key1, "P1", due))
		}},
		{"a transaction of the caller's", true, func(pool *pgxpool.Pool) act {
			return func(ctx context.Context, _ fsm.DB) (got string, err error) {
				err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { got, err = tell(ctx, tx); return err })
				return got, err
			}
		}},
		{"one of database/sql", true, func(pool *pgxpool.Pool) act {
			return func(context.Context, fsm.DB) (string, error) { return overSQL(pool, tell) }
		}},
	}
}

// A server that gives up waiting for its standby says that it has committed. That is
// no success: a failover loses it. The same call again says what the server has.
func TestACancelledSyncWait(t *testing.T) {
	t.Parallel()
	s := openStandbyless(t)
	watched, trusting := s.waiting(true), s.waiting(false)
	for _, way := range commitWays(s) {
		s.again(key1)
		got := s.cancelled(watched, way.tell(watched))
		require.Equal(t, "40003", sqlState(t, got.err), way.name)
		require.False(t, fsm.Retryable(got.err), way.name)
		if !way.own {
			require.ErrorIs(t, got.err, fsm.ErrUnknown, way.name)
			require.NotErrorIs(t, got.err, fsm.ErrNothingDone, way.name)
		}
		s.says("Replayed PAID 2", paid(key1, "P1", due))

		s.again(key1)
		require.Equal(t, answer{told: "Applied PAID 2"}, s.cancelled(trusting, way.tell(trusting)), "%s: who does not watch is not told", way.name)
	}
}

// A sweep tells of it too, and of nothing that moved.
func TestACancelledSyncWaitOfASweep(t *testing.T) {
	t.Parallel()
	s := openStandbyless(t, key1)
	pool := s.waiting(true)
	got := s.cancelled(pool, func(ctx context.Context, _ fsm.DB) (string, error) {
		moved, err := (&fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}).Once(ctx)
		require.Zero(t, moved)
		return "", err
	})
	require.Equal(t, "40003", sqlState(t, got.err))
	require.ErrorIs(t, got.err, fsm.ErrUnknown)
	require.Equal(t, "CANCELLED 2", s.text(`SELECT status || ' ' || version FROM orders`))
}

// A call whose context ends while it waits leaves a payment that no standby has, and
// its repetition is answered from there. AwaitStandbys returns when one has it.
func TestAwaitStandbys(t *testing.T) {
	t.Parallel()
	s := openStandbyless(t, key1)
	pool := s.waiting(true)
	ctx, leave := context.WithCancel(t.Context())
	call := start(ctx, pool, paid(key1, "P1", due))
	s.untilWaiting(call)
	leave()
	require.ErrorIs(t, finish(t, call).err, fsm.ErrUnknown)
	got, err := paid(key1, "P1", due)(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, "Replayed PAID 2", got, "nothing is written, and nothing waits")

	await := func(ctx context.Context, db fsm.DB) (string, error) { return "", fsm.AwaitStandbys(ctx, db) }
	refused := s.cancelled(pool, await)
	require.ErrorIs(t, refused.err, fsm.ErrUnknown)
	require.Equal(t, "40003", sqlState(t, refused.err))
	tx := s.begin(pgx.TxOptions{})
	require.ErrorIs(t, fsm.AwaitStandbys(t.Context(), tx), fsm.ErrArgument)
	require.NoError(t, tx.Rollback(t.Context()))

	done := start(t.Context(), pool, await)
	s.untilWaiting(done)
	standby, err := localpg.Start(t.Context(), localpg.Options{Fast: true, ReplicaOf: s.server})
	require.NoError(t, err)
	t.Cleanup(func() { _ = standby.Stop() })
	require.Equal(t, answer{}, finish(t, done))
	config, err := pgx.ParseConfig(standby.URL)
	require.NoError(t, err)
	config.Database = s.pool.Config().ConnConfig.Database
	there, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer func() { _ = there.Close(context.Background()) }()
	for have := ""; have != "P1"; { // it has the WAL, and takes a moment to show it
		have = textIn(t, there, `SELECT COALESCE(max(identity), '') FROM order_facts`)
	}
}
