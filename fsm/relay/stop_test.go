package relay_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// A relay that is stopped finishes what it began, marks it, and begins nothing.
func TestStoppedInTheMiddle(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 3, "a")
	ctx, cancel := context.WithCancel(t.Context())
	b := &broker{judge: func(ctx context.Context, _ relay.Message) error {
		cancel()
		return ctx.Err() // a try does not end with the relay
	}}
	n, err := (&relay.Relay{DB: pool, Publisher: b}).Once(ctx)
	require.Equal(t, 1, n)
	require.ErrorIs(t, err, context.Canceled, "the other half of the round had not begun")
	require.Equal(t, []int64{1}, b.told("a"))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_sent"))
	require.Equal(t, 2, count(t, pool, "fsm_outbox"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
	require.Equal(t, 2, once(t, &relay.Relay{DB: pool, Publisher: b}))
}

// A try that takes too long ends, and holds up its key.
func TestATryThatHangs(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "slow", "good")
	b := &broker{judge: func(ctx context.Context, m relay.Message) error {
		if m.Key == "slow" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}}
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b, Timeout: time.Second, Tries: 1}))
	holds, err := relay.Holds(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Equal(t, "slow", holds[0].Key)
	require.Equal(t, context.DeadlineExceeded.Error(), holds[0].Error)
}

// A try that takes all the time leaves the other keys alone: they were not begun,
// and nothing is held against them.
func TestNothingIsBegunWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 2, "slow", "good")
	b := &broker{judge: func(ctx context.Context, m relay.Message) error {
		if m.Key == "slow" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}}
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: b, Parallel: 1, Timeout: 500 * time.Millisecond, Tries: 1}))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_holds"))
	require.Equal(t, 2, once(t, &relay.Relay{DB: pool, Publisher: b}))
	require.Equal(t, []string{"good 1", "good 2"}, b.all())
}

// A held key that hangs when it is tried again keeps no fresh message waiting.
func TestHeldKeysDoNotDelayFreshOnes(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "slow")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Backoff: again}))
	entered, leave := make(chan struct{}), make(chan struct{})
	arrived := make(chan relay.Message)
	r := &relay.Relay{DB: pool, Every: time.Millisecond, Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error {
		if m.Key == "slow" {
			close(entered)
			<-leave
			return nil
		}
		arrived <- m
		return nil
	})}
	running(t, r)
	receive(t, entered)
	for v := range 3 {
		emit(t, pool, "good", v+1)
		require.EqualValues(t, v+1, receive(t, arrived).Version)
	}
	close(leave)
	untilEmpty(t, pool)
}

// A relay that stands still loses its session and with it the key: another one
// delivers, and the first marks nothing when it comes back.
func TestAFrozenRelayLosesItsKeys(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 2, "a")
	entered, leave := make(chan struct{}), make(chan struct{})
	frozen := relay.PublisherFunc(func(context.Context, relay.Message) error {
		close(entered)
		<-leave // and looks at no context
		return nil
	})
	failed := make(chan error, 1)
	go func() {
		_, err := (&relay.Relay{DB: pool, Publisher: frozen, Timeout: 500 * time.Millisecond}).Once(t.Context())
		failed <- err
	}()
	receive(t, entered)
	b := &broker{}
	drain(t, &relay.Relay{DB: pool, Publisher: b}, pool)
	require.Equal(t, []int64{1, 2}, b.told("a"))
	close(leave)
	require.Error(t, receive(t, failed))
	require.Equal(t, 2, count(t, pool, "fsm_outbox_sent"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
}

// An answer to the COMMIT that was lost is not taken for a failure, nor for success.
func TestALostCommit(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a")
	b := &broker{}
	n, err := (&relay.Relay{DB: deaf{pool}, Publisher: b}).Once(t.Context())
	require.Zero(t, n)
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: b}), "it was marked, as it happens")
	require.Equal(t, []int64{1}, b.told("a"))
}

// deaf has transactions whose COMMIT is done and its answer lost.
type deaf struct{ fsm.TxBeginner }

func (d deaf) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := d.TxBeginner.BeginTx(ctx, o)
	return deafTx{tx}, err
}

type deafTx struct{ pgx.Tx }

func (d deafTx) Commit(ctx context.Context) error {
	return errors.Join(d.Tx.Commit(ctx), io.ErrUnexpectedEOF)
}

// Run wakes at a NOTIFY, at Wake, and otherwise when its pause is over.
func TestWakeUps(t *testing.T) {
	t.Parallel()
	pool := open(t)
	execute(t, pool, `ALTER TABLE fsm_outbox ENABLE TRIGGER fsm_outbox_notify`)
	arrived, waits := make(chan relay.Message), make(chan time.Duration, 1)
	r := &relay.Relay{
		DB: pool, Every: time.Second,
		Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error { arrived <- m; return nil }),
		Listen:    func(ctx context.Context) (*pgx.Conn, error) { return pgx.ConnectConfig(ctx, pool.Config().ConnConfig) },
		Wait: func(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
			select {
			case waits <- d:
			default: // one will do
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-wake: // and no pause is ever over
				return nil
			}
		},
	}
	running(t, r)
	until(t, pool, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle')`)
	emit(t, pool, "a", 1)
	require.Equal(t, "a", receive(t, arrived).Key)

	execute(t, pool, `ALTER TABLE fsm_outbox DISABLE TRIGGER fsm_outbox_notify`)
	emit(t, pool, "b", 1)
	r.Wake()
	require.Equal(t, "b", receive(t, arrived).Key)
	require.LessOrEqual(t, receive(t, waits), time.Second)
}

// Run tells of an error and goes on; the tables may come later.
func TestTheTablesAreMissing(t *testing.T) {
	t.Parallel()
	core, err := fs.ReadFile(migrations.FS, "00001_fsm_core.sql")
	require.NoError(t, err)
	pool := testdb.New(t, testdb.WithMigrations(fstest.MapFS{"00001_fsm_core.sql": {Data: core}}))
	emit(t, pool, "a", 1)
	r := &relay.Relay{DB: pool, Publisher: refusing{}}
	_, err = r.Once(t.Context())
	require.ErrorIs(t, err, relay.ErrTables)
	require.ErrorContains(t, err, "fsmgen tables relay")
	_, err = relay.Sweep(t.Context(), pool, time.Hour)
	require.ErrorIs(t, err, relay.ErrTables)
	_, err = relay.ReadLag(t.Context(), pool)
	require.ErrorIs(t, err, relay.ErrTables)
	require.ErrorIs(t, relay.Retry(t.Context(), pool, "order", "a"), relay.ErrTables)

	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error, 2) // by each of the two lanes at most
	r.Failed = func(err error) { told <- err; cancel() }
	r.Wait = func(ctx context.Context, _ time.Duration, _ <-chan struct{}) error { <-ctx.Done(); return ctx.Err() }
	require.ErrorIs(t, r.Run(ctx), context.Canceled)
	require.ErrorIs(t, receive(t, told), relay.ErrTables)
}

// What was written before anybody listened is looked for when somebody does.
func TestRowsFromBeforeTheListening(t *testing.T) {
	t.Parallel()
	pool := open(t)
	idle, allowed, arrived := make(chan struct{}), make(chan struct{}), make(chan relay.Message)
	running(t, &relay.Relay{
		DB:        pool,
		Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error { arrived <- m; return nil }),
		Listen: func(ctx context.Context) (*pgx.Conn, error) {
			<-allowed
			return pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
		},
		Wait: func(ctx context.Context, _ time.Duration, wake <-chan struct{}) error {
			select {
			case idle <- struct{}{}:
			case <-ctx.Done():
			}
			select {
			case <-wake: // and no pause is ever over
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	})
	receive(t, idle) // one for fresh rows,
	receive(t, idle) // one for held keys
	emit(t, pool, "a", 1)
	close(allowed)
	require.Equal(t, "a", receive(t, arrived).Key)
}

// A connection that listens and is lost is opened again, and told of.
func TestListeningGoesOn(t *testing.T) {
	t.Parallel()
	pool := open(t)
	lost := make(chan error, 100)
	r := &relay.Relay{
		DB: pool, Publisher: refusing{}, Every: time.Millisecond,
		Listen: func(ctx context.Context) (*pgx.Conn, error) { return pgx.ConnectConfig(ctx, pool.Config().ConnConfig) },
		Failed: func(err error) { lost <- err },
	}
	running(t, r)
	const listening = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'`
	until(t, pool, `SELECT EXISTS (`+listening+`)`)
	var pid int
	require.NoError(t, pool.QueryRow(t.Context(), listening).Scan(&pid))
	execute(t, pool, `SELECT pg_terminate_backend($1)`, pid)
	require.ErrorContains(t, receive(t, lost), "relay: listen: ")
	until(t, pool, `SELECT EXISTS (`+listening+` AND pid <> $1)`, pid)
}

// Run makes round after round while there is more, and takes its pauses only then.
func TestRunDoesNotPauseWhileThereIsMore(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 7, "a")
	b := &broker{}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan int, 2)
	r := &relay.Relay{DB: pool, Publisher: b, Batch: 2, Wait: func(ctx context.Context, _ time.Duration, _ <-chan struct{}) error {
		left <- 7 - len(b.all())
		<-ctx.Done()
		return ctx.Err()
	}}
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	receive(t, left) // of the held keys, of which there are none, at any time
	require.Zero(t, receive(t, left), "of the fresh ones")
	cancel()
	require.ErrorIs(t, receive(t, done), context.Canceled)
}
