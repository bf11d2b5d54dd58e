package consume_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var errBoom = errors.New("boom")

// effectsSQL is a table without any key: it takes every effect that is committed.
const effectsSQL = `CREATE TABLE effects (key text NOT NULL, payload text NOT NULL DEFAULT '')`

// newConsumer returns a consumer on a database of its own, with a table of effects.
func newConsumer(t *testing.T) (*consume.Consumer, *pgxpool.Pool) {
	t.Helper()
	db := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := db.Exec(t.Context(), effectsSQL)
	require.NoError(t, err)
	return &consume.Consumer{DB: db, Name: "shipping", Lease: time.Minute, Tries: 3}, db
}

func message(payload string) consume.Message {
	return consume.Message{Topic: "paid", ID: "m-1", Payload: []byte(payload), Metadata: map[string]string{"trace": "t-1"}}
}

// effect is a handler that has one effect of the message's payload.
func effect(ctx context.Context, tx pgx.Tx, m consume.Message) error {
	_, err := tx.Exec(ctx, `INSERT INTO effects (key) VALUES ($1)`, string(m.Payload))
	return err
}

// failing has its effect and fails then.
func failing(ctx context.Context, tx pgx.Tx, m consume.Message) error {
	if err := effect(ctx, tx, m); err != nil {
		return err
	}
	return errBoom
}

// never is a handler that must not be called.
func never(t *testing.T) consume.Handler {
	return func(context.Context, pgx.Tx, consume.Message) error {
		t.Error("the handler was called")
		return nil
	}
}

// effects counts the effects of a key, or of all for "".
func effects(t *testing.T, db *pgxpool.Pool, key string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM effects WHERE $1 IN ('', key)`, key).Scan(&n))
	return n
}

// endLeases has the leases of all claims end now.
func endLeases(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	_, err := db.Exec(t.Context(), `UPDATE fsm_consumed SET lease_until = clock_timestamp()`)
	require.NoError(t, err)
}

// claim reads the row of a key: empty for none.
func claim(t *testing.T, db *pgxpool.Pool, key string) (state string, tries int) {
	t.Helper()
	err := db.QueryRow(t.Context(), `SELECT state, tries FROM fsm_consumed WHERE key = $1`, key).Scan(&state, &tries)
	if !errors.Is(err, pgx.ErrNoRows) {
		require.NoError(t, err)
	}
	return state, tries
}

func TestOnce(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	var told []consume.Report
	c.Observe = func(_ context.Context, r consume.Report) { told = append(told, r) }
	out, err := c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	out, err = c.Consume(t.Context(), "k", message("k"), never(t))
	require.NoError(t, err)
	require.Equal(t, consume.Duplicate, out)
	require.Equal(t, 1, effects(t, db, ""))
	require.Equal(t, []consume.Report{
		{Consumer: "shipping", Key: "k", Outcome: consume.Done, Try: 1},
		{Consumer: "shipping", Key: "k", Outcome: consume.Duplicate},
	}, told)

	other := *c
	other.Name = "billing"
	out, err = other.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out, "another consumer has keys of its own")
}

// The report: 50 deliveries of one message at once. The pool is smaller than that.
func TestManyDeliveriesAtOnce(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	counts := map[consume.Outcome]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			out, err := c.Consume(t.Context(), "k", message("k"), effect)
			mu.Lock()
			defer mu.Unlock()
			counts[out]++
			if out != consume.InProgress && err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, effects(t, db, ""))
	require.Equal(t, 1, counts[consume.Done])
	require.Equal(t, 49, counts[consume.Duplicate]+counts[consume.InProgress], "%v", counts)
}

// A duplicate that comes while the first is handled is given back, and is not told
// that all is well before it is.
func TestInProgressIsGivenBack(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	out, err := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		out, err := c.Consume(ctx, "k", m, never(t)) // while this one holds its claim
		require.ErrorIs(t, err, consume.ErrInProgress)
		require.Equal(t, consume.InProgress, out)
		require.False(t, out.Ack())
		return failing(ctx, tx, m)
	})
	require.Equal(t, errBoom, err)
	require.Equal(t, consume.Failed, out)
	require.Equal(t, 0, effects(t, db, ""))
	out, err = c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out, "the duplicate that was given back does the work")
}

func TestAck(t *testing.T) {
	t.Parallel()
	acked := map[consume.Outcome]bool{}
	for _, o := range consume.Outcomes() {
		acked[o] = o.Ack()
	}
	require.Equal(t, map[consume.Outcome]bool{
		consume.Done: true, consume.Duplicate: true, consume.Dead: true, consume.InProgress: false, consume.Failed: false,
	}, acked)
	require.False(t, consume.Outcome("").Ack())
}

func TestBadConsumers(t *testing.T) {
	t.Parallel()
	db, _ := newConsumer(t)
	for name, change := range map[string]func(*consume.Consumer){
		"no database":    func(c *consume.Consumer) { c.DB = nil },
		"no name":        func(c *consume.Consumer) { c.Name = "" },
		"control":        func(c *consume.Consumer) { c.Name = "a\x00b" },
		"no lease":       func(c *consume.Consumer) { c.Lease = 0 },
		"negative lease": func(c *consume.Consumer) { c.Lease = -time.Minute },
		"lease under ms": func(c *consume.Consumer) { c.Lease = time.Millisecond - 1 },
		"no tries":       func(c *consume.Consumer) { c.Tries = 0 },
		"negative tries": func(c *consume.Consumer) { c.Tries = -1 },
	} {
		c := *db
		change(&c)
		out, err := c.Consume(t.Context(), "k", message("k"), never(t))
		require.ErrorIs(t, err, fsm.ErrArgument, name)
		require.Equal(t, consume.Failed, out, name)
		_, _, err = c.Sweep(t.Context(), consume.Sweep{Retention: time.Hour})
		require.ErrorIs(t, err, fsm.ErrArgument, name)
		_, err = c.Letters(t.Context(), 0, 0)
		require.ErrorIs(t, err, fsm.ErrArgument, name)
	}
	out, err := db.Consume(t.Context(), "k", message("k"), nil)
	require.ErrorIs(t, err, fsm.ErrArgument, "no handler")
	require.Equal(t, consume.Failed, out)
	require.Empty(t, db.ConsumeBatch(t.Context(), nil, never(t)))
}

// A key that is none never gets better: the message is stored and acknowledged, so
// that those behind it go on, and its text is nowhere in the error.
func TestBadKeys(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	bad := []string{"", strings.Repeat("secret", 2000), "secret\x00", "secret\n", "secret\u0085", "secret\xff"}
	begin := []string{"key is empty", strings.Repeat("secret", 10) + "secr...", `secret\x00`, `secret\n`, `secret\u0085`, `secret\xff`}
	for _, key := range bad {
		out, err := c.Consume(t.Context(), key, message("k"), never(t))
		require.Equal(t, consume.Dead, out)
		require.ErrorIs(t, err, consume.ErrKey)
		require.ErrorIs(t, err, consume.ErrDead)
		require.ErrorIs(t, err, fsm.ErrArgument)
		require.NotContains(t, err.Error(), "secret")
	}
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, len(bad))
	for i, l := range letters {
		require.Empty(t, l.Key)
		require.True(t, strings.HasSuffix(l.Error, begin[i]), l.Error)
		require.Equal(t, message("k"), l.Message)
	}
	var rows int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM fsm_consumed`).Scan(&rows))
	require.Zero(t, rows)
	for _, key := range []string{"k", strings.Repeat("k", consume.MaxKey), "付款/17 é"} {
		out, err := c.Consume(t.Context(), key, message("k"), effect)
		require.NoError(t, err)
		require.Equal(t, consume.Done, out)
	}
}

func TestNoTables(t *testing.T) {
	t.Parallel()
	c := &consume.Consumer{DB: testdb.New(t), Name: "shipping", Lease: time.Minute, Tries: 3}
	for _, key := range []string{"k", ""} {
		out, err := c.Consume(t.Context(), key, message("k"), never(t))
		require.ErrorIs(t, err, consume.ErrTables)
		require.Equal(t, consume.Failed, out)
	}
	_, err := c.Letter(t.Context(), 1)
	require.ErrorIs(t, err, consume.ErrTables)
	_, _, err = c.Sweep(t.Context(), consume.Sweep{Retention: time.Hour})
	require.ErrorIs(t, err, consume.ErrTables)
}

func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	out, err := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		require.NoError(t, effect(ctx, tx, m))
		panic("at the disco")
	})
	var p *consume.PanicError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "at the disco", p.Value)
	require.Contains(t, string(p.Stack), "TestPanicIsAFailure")
	require.Equal(t, consume.Failed, out)
	require.Equal(t, 0, effects(t, db, ""))
	state, tries := claim(t, db, "k")
	require.Equal(t, "failed", state)
	require.Equal(t, 1, tries)
}

// A process that is told to stop gives its claim back without a try; a handler that
// is too slow for the lease has tried.
func TestAnEndedContext(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	ctx, stop := context.WithCancel(t.Context())
	out, err := c.Consume(ctx, "stopped", message("k"), func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, consume.Failed, out)
	state, tries := claim(t, db, "stopped")
	require.Equal(t, "failed", state)
	require.Equal(t, 0, tries)

	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	out, err = c.Consume(late, "late", message("late"), never(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, consume.Failed, out)
	out, err = c.Consume(t.Context(), "late", message("late"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out, "nothing refuses it")

	c.Lease = 20 * time.Millisecond
	out, err = c.Consume(t.Context(), "slow", message("k"), func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, consume.Failed, out)
	state, tries = claim(t, db, "slow")
	require.Equal(t, "failed", state)
	require.Equal(t, 1, tries)
}

func TestPoints(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	for _, row := range []struct {
		point   fault.Point
		effects int
		tries   int
		again   consume.Outcome
	}{
		{consume.Claimed, 0, 0, consume.Done},
		{consume.Handled, 0, 1, consume.Done},
		{consume.Committed, 1, 1, consume.Duplicate},
	} {
		key := string(row.point)
		out, err := c.Consume(fault.With(t.Context(), row.point, fault.Fail), key, message(key), effect)
		require.ErrorIs(t, err, fault.ErrInjected, key)
		require.Equal(t, consume.Failed, out, key)
		require.Equal(t, row.effects, effects(t, db, key), key)
		_, tries := claim(t, db, key)
		require.Equal(t, row.tries, tries, key)
		out, err = c.Consume(t.Context(), key, message(key), effect)
		require.NoError(t, err, key)
		require.Equal(t, row.again, out, key)
		require.Equal(t, 1, effects(t, db, key), key)
	}
}
