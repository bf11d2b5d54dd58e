package consume_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fault"
)

// naiveSeen marks a key as seen, in a statement of its own, and reports whether it
// was new.
func naiveSeen(t *testing.T, db *pgxpool.Pool, key string) bool {
	t.Helper()
	tag, err := db.Exec(t.Context(), `INSERT INTO naive (key) VALUES ($1) ON CONFLICT DO NOTHING`, key)
	require.NoError(t, err)
	return tag.RowsAffected() == 1
}

func naiveTable(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	_, err := db.Exec(t.Context(), `CREATE TABLE naive (key text PRIMARY KEY, owner text)`)
	require.NoError(t, err)
}

// The report: a message is marked as seen before its work, the work fails, and the
// redelivery is dropped as a duplicate, so that the message is lost.
func TestMarkedSeenBeforeTheWork(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	out, err := c.Consume(t.Context(), "k", message("k"), failing)
	require.Equal(t, errBoom, err)
	require.Equal(t, consume.Failed, out)
	require.Equal(t, 0, effects(t, db, ""), "what the handler did is undone")
	out, err = c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	require.Equal(t, 1, effects(t, db, "k"))

	naiveTable(t, db)
	naive := func(handle consume.Handler) {
		if naiveSeen(t, db, "n") {
			_ = pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error { return handle(t.Context(), tx, message("n")) })
		}
	}
	naive(failing)
	naive(effect)
	require.Equal(t, 0, effects(t, db, "n"), "the naive consumer loses it")
}

const childSpec, childURL, childKey = "PAWL_CONSUME_CHILD", "PAWL_CONSUME_URL", "PAWL_CONSUME_KEY"

// TestChild is the process that dies; without its environment it does nothing.
func TestChild(t *testing.T) {
	spec := os.Getenv(childSpec)
	if spec == "" {
		return
	}
	require.NoError(t, fault.Arm(spec))
	db, err := pgxpool.New(t.Context(), os.Getenv(childURL))
	require.NoError(t, err)
	c := &consume.Consumer{DB: db, Name: "shipping", Lease: time.Minute, Tries: 3}
	key := os.Getenv(childKey)
	_, _ = c.Consume(t.Context(), key, message(key), effect)
	require.Fail(t, "not killed")
}

// die consumes the key in a process that is killed at the point.
func die(t *testing.T, db *pgxpool.Pool, point fault.Point, key string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childSpec+"="+string(point)+"=kill", childURL+"="+db.Config().ConnString(), childKey+"="+key)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, err.Error(), "killed", "%s", out)
}

// requireLease looks for how long the one claim holds: for the lease, and not for as
// long as a key is kept.
func requireLease(t *testing.T, c *consume.Consumer, db *pgxpool.Pool) {
	t.Helper()
	var lease time.Duration
	require.NoError(t, db.QueryRow(t.Context(), `SELECT lease_until - changed_at FROM fsm_consumed`).Scan(&lease))
	require.InDelta(t, c.Lease, lease, float64(time.Second))
}

// The report: a row "received" that a crash left makes every retry a duplicate.
// Here the claim of a dead process holds for its lease, and then is taken over.
func TestCrashLeavesReceivedRow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		point   fault.Point
		before  consume.Outcome
		after   consume.Outcome
		effects int
	}{
		{consume.Claimed, consume.InProgress, consume.Done, 0},
		{consume.Handled, consume.InProgress, consume.Done, 0},
		{consume.Committed, consume.Duplicate, consume.Duplicate, 1},
	} {
		t.Run(string(row.point), func(t *testing.T) {
			t.Parallel()
			c, db := newConsumer(t)
			die(t, db, row.point, "k")
			require.Equal(t, row.effects, effects(t, db, "k"))
			out, _ := c.Consume(t.Context(), "k", message("k"), never(t))
			require.Equal(t, row.before, out, "within the lease")
			if row.before == consume.InProgress {
				requireLease(t, c, db)
				_, err := db.Exec(t.Context(), `UPDATE fsm_consumed SET lease_until = NULL`)
				require.ErrorContains(t, err, "not-null", "nothing is claimed for ever")
			}
			endLeases(t, db)
			out, err := c.Consume(t.Context(), "k", message("k"), effect)
			require.NoError(t, err)
			require.Equal(t, row.after, out)
			require.Equal(t, 1, effects(t, db, "k"))
		})
	}
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		_, db := newConsumer(t)
		naiveTable(t, db)
		require.True(t, naiveSeen(t, db, "k"))
		require.False(t, naiveSeen(t, db, "k"), "the first one died here, and its message is a duplicate for ever")
		require.Equal(t, 0, effects(t, db, "k"))
	})
}

// A message that kills each process that handles it is given up too, and is stored
// from the delivery after that.
func TestMessageThatKills(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	for try := 1; try <= c.Tries; try++ {
		die(t, db, consume.Handled, "k")
		_, tries := claim(t, db, "k")
		require.Equal(t, try, tries, "counted although the process died")
		endLeases(t, db)
	}
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.ErrorIs(t, err, consume.ErrDead)
	require.Equal(t, consume.Dead, out)
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.Equal(t, message("k"), letters[0].Message)
	require.Equal(t, c.Tries, letters[0].Tries)
	out, _ = c.Consume(t.Context(), "k", message("k"), never(t))
	require.Equal(t, consume.Dead, out, "and is stored once")
	letters, err = c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 1)
}

// The report: after a restart, or with two processes, one message runs twice. Here
// the first owner is slow, its lease ends, and another takes over: the first one's
// work is rolled back, and its release leaves the new owner's claim alone.
func TestTwoOwners(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		first consume.Handler
	}{
		{"the first succeeds", effect},
		{"the first fails", failing},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, db := newConsumer(t)
			inFirst, goOn := make(chan struct{}), make(chan struct{})
			first := make(chan consume.Outcome)
			go func() {
				out, _ := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
					close(inFirst)
					<-goOn
					return row.first(ctx, tx, m)
				})
				first <- out
			}()
			<-inFirst
			endLeases(t, db)
			out, err := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
				close(goOn) // the first ends while the second is at work
				require.Equal(t, consume.InProgress, <-first)
				state, tries := claim(t, db, "k")
				require.Equal(t, "claimed", state, "the second's claim stays")
				require.Equal(t, 2, tries)
				third, _ := c.Consume(ctx, "k", m, never(t))
				require.Equal(t, consume.InProgress, third, "its lease is a new one")
				requireLease(t, c, db)
				return effect(ctx, tx, m)
			})
			require.NoError(t, err)
			require.Equal(t, consume.Done, out)
			require.Equal(t, 1, effects(t, db, "k"))
		})
	}
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		_, db := newConsumer(t)
		naiveTable(t, db)
		require.True(t, naiveSeen(t, db, "k"))
		for _, owner := range []string{"second", "first"} { // the second took over, then the first goes on
			require.NoError(t, pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
				if err := effect(t.Context(), tx, message("k")); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE naive SET owner = $1 WHERE key = 'k'`, owner) // compares no owner
				return err
			}))
		}
		require.Equal(t, 2, effects(t, db, "k"), "the naive consumer runs it twice")
	})
}

// A first owner whose message was given up meanwhile, requeued, and claimed again,
// fails: the new owner's claim is not given up for it.
func TestOvertakenAfterRequeue(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	c.Tries = 1
	out, _ := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, _ pgx.Tx, m consume.Message) error {
		endLeases(t, db)
		out, err := c.Consume(ctx, "k", m, never(t))
		require.ErrorIs(t, err, consume.ErrDead)
		require.Equal(t, consume.Dead, out)
		letters, err := c.Letters(ctx, 0, 0)
		require.NoError(t, err)
		_, err = c.Requeue(ctx, letters[0].ID, who, nil)
		require.NoError(t, err)
		// The claim of another process, which is at work.
		_, err = db.Exec(ctx, `
			INSERT INTO fsm_consumed (consumer, key, state, owner, tries, lease_until, changed_at)
			VALUES ('shipping', 'k', 'claimed', 'another', 1, now() + interval '1 hour', now())`)
		require.NoError(t, err)
		return errBoom
	})
	require.Equal(t, consume.InProgress, out)
	state, _ := claim(t, db, "k")
	require.Equal(t, "claimed", state)
}

// A first owner that goes on after the second is done finds that out.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	out, err := c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		endLeases(t, db)
		out, err := c.Consume(ctx, "k", m, effect)
		require.NoError(t, err)
		require.Equal(t, consume.Done, out)
		return effect(ctx, tx, m)
	})
	require.NoError(t, err)
	require.Equal(t, consume.Duplicate, out)
	require.Equal(t, 1, effects(t, db, "k"))
}

// Where every transaction is SERIALIZABLE, a delivery that meets another may fail and
// comes again; the effect is there once all the same.
func TestSerializable(t *testing.T) {
	t.Parallel()
	_, db := newConsumer(t)
	config := db.Config()
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	strict, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(strict.Close)
	c := &consume.Consumer{DB: strict, Name: "shipping", Lease: time.Minute, Tries: 20}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				out, err := c.Consume(t.Context(), "k", message("k"), effect)
				if out.Ack() {
					return
				}
				if out == consume.Failed && !fsm.Retryable(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, effects(t, db, "k"))
}
