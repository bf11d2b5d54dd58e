package command_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/fault"
)

func TestDoTwice(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	first, err := c.Do(t.Context(), pool, payment("k", `{"cents":100}`), pay)
	require.NoError(t, err)
	require.False(t, first.Replayed)
	require.Equal(t, "secret=1", first.Header.Get("Set-Cookie"), "the first caller gets all that the work said")

	again, err := c.Do(t.Context(), pool, payment("k", ` { "cents" : 1.00e2 } `), never)
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, 201, again.Status)
	require.JSONEq(t, `{"paid":100}`, string(again.Body))
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/1"}}, again.Header)
	require.False(t, again.At.IsZero())
	require.True(t, again.At.Equal(first.At))
	require.Equal(t, 1, ledger(t, pool))
}

// Of parallel senders, one does the work, and the losers read the winner's reply:
// none fails, none gets an empty success. An id that the database gives can not
// collide. (Losers got 503; ids made in code were unique violations; an insert
// that does nothing returned nothing to the loser.)
func TestFiftyAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		key   func(int) string
		works int
	}{
		{"equal keys", func(int) string { return "k" }, 1},
		{"keys of their own", func(n int) string { return fmt.Sprint("k", n) }, 50},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := command.Command{Name: "pay", Wait: patience}
			answers := make([]command.Answer, 50)
			errs := make([]error, 50)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					answers[i], errs[i] = c.Do(t.Context(), pool, payment(tc.key(i), `{}`), pay)
				})
			}
			wg.Wait()
			fresh := 0
			for i, a := range answers {
				require.NoError(t, errs[i])
				require.Equal(t, 201, a.Status)
				require.JSONEq(t, `{"paid":100}`, string(a.Body))
				if !a.Replayed {
					fresh++
				}
			}
			require.Equal(t, tc.works, fresh)
			require.Equal(t, tc.works, ledger(t, pool))
		})
	}
}

// A duplicate that looks first and inserts later does the work again: what the
// staging catches.
func TestLookThenInsertWorksTwice(t *testing.T) {
	t.Parallel()
	pool := open(t)
	run(t, pool, `CREATE TABLE seen (key text)`)
	naive := func(work command.Work) (command.Answer, error) {
		var a command.Answer
		err := fsm.RunTx(t.Context(), pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM seen WHERE key = 'k')`).Scan(&a.Replayed); err != nil || a.Replayed {
				return err
			}
			if _, err := work(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `INSERT INTO seen VALUES ('k')`)
			return err
		})
		return a, err
	}
	b := newBlocking()
	first := start(func() (command.Answer, error) { return naive(b.then(pay)) })
	await(t, b.begun)
	second, err := naive(pay)
	require.NoError(t, err)
	require.False(t, second.Replayed)
	close(b.goOn)
	require.NoError(t, await(t, first).err)
	require.Equal(t, 2, ledger(t, pool))
}

// Another body under the key is told so while the first call is still at work.
// (The check for one in progress came before that of the payload.)
func TestMismatchWhileTheFirstWorks(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	b := newBlocking()
	first := start(func() (command.Answer, error) {
		return c.Do(t.Context(), pool, payment("k", `{"cents":100}`), b.then(pay))
	})
	await(t, b.begun)
	_, err := c.Do(t.Context(), pool, payment("k", `{"cents":999}`), never)
	require.ErrorIs(t, err, command.ErrMismatch)
	require.Empty(t, first, "the first is still at work")
	close(b.goOn)
	require.NoError(t, await(t, first).err)

	_, err = c.Do(t.Context(), pool, payment("k", `{"cents":999}`), never)
	require.ErrorIs(t, err, command.ErrMismatch)
	require.Equal(t, 1, ledger(t, pool))
}

// With the claim in the first call's transaction alone, nobody can know: the other
// body is told to come back later, and only then that it never had a chance.
func TestMismatchIsUnseenInOneTransaction(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Commit(context.WithoutCancel(t.Context()))) }()
	_, err = c.DoTx(t.Context(), tx, payment("k", `{"cents":100}`), pay)
	require.NoError(t, err)
	other, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Rollback(context.WithoutCancel(t.Context()))) }()
	_, err = other.Exec(t.Context(), `SET LOCAL lock_timeout = '1ms'`)
	require.NoError(t, err)
	_, err = c.DoTx(t.Context(), other, payment("k", `{"cents":999}`), never)
	require.ErrorIs(t, err, command.ErrInProgress)
}

func TestDuplicateWaitsForTheReply(t *testing.T) {
	t.Parallel()
	for _, level := range []pgx.TxIsoLevel{"", pgx.RepeatableRead, pgx.Serializable} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := command.Command{Name: "pay", Wait: patience, Tx: fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: level}}}
			b := newBlocking()
			first := start(func() (command.Answer, error) {
				return c.Do(t.Context(), pool, payment("k", `{}`), b.then(pay))
			})
			await(t, b.begun)
			second := start(func() (command.Answer, error) {
				return c.Do(t.Context(), pool, payment("k", `{}`), never)
			})
			waitUntil(t, pool, waiting, 1)
			close(b.goOn)
			require.NoError(t, await(t, first).err)
			got := await(t, second)
			require.NoError(t, got.err)
			require.True(t, got.Replayed)
			require.JSONEq(t, `{"paid":100}`, string(got.Body))
			require.Equal(t, 1, ledger(t, pool))
		})
	}
}

func TestDuplicateThatMayNotWait(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Wait: -1}
	b := newBlocking()
	first := start(func() (command.Answer, error) {
		return c.Do(t.Context(), pool, payment("k", `{}`), b.then(pay))
	})
	await(t, b.begun)
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.ErrorIs(t, err, command.ErrInProgress)
	require.False(t, fsm.Retryable(err), "that is for the sender to decide")
	var busy *command.InProgressError
	require.ErrorAs(t, err, &busy)
	require.False(t, busy.Since.IsZero())
	close(b.goOn)
	require.NoError(t, await(t, first).err)
}

// The wait of a claim is not the wait of the work.
func TestLockTimeoutOfTheWorkIsTheSessions(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Wait: -1}
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		var limit string
		err := tx.QueryRow(ctx, `SELECT current_setting('lock_timeout')`).Scan(&limit)
		return command.Reply{Status: 200, Body: []byte(limit)}, err
	})
	require.NoError(t, err)
	again, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.NoError(t, err)
	require.Equal(t, "0", string(again.Body))
}

// What PostgreSQL does not take for a lock_timeout is no reason to fail: the wait is
// as long, or as short, as it can be.
func TestWaitBeyondTheServers(t *testing.T) {
	t.Parallel()
	pool := open(t)
	for _, wait := range []time.Duration{math.MinInt64, 1, 30 * 24 * time.Hour, math.MaxInt64} {
		c := command.Command{Name: "pay", Wait: wait}
		require.NoError(t, c.Check())
		_, err := c.Do(t.Context(), pool, payment(wait.String(), `{}`), pay)
		require.NoError(t, err, wait)
	}
	require.Equal(t, 4, ledger(t, pool))
}

// A waiting duplicate does the work when the first fails.
func TestDuplicateTakesTheFailedFirstsPlace(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Wait: patience}
	boom := errors.New("boom")
	b := newBlocking()
	first := start(func() (command.Answer, error) {
		return c.Do(t.Context(), pool, payment("k", `{}`), b.then(func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			_, err := pay(ctx, tx)
			return command.Reply{}, errors.Join(err, boom)
		}))
	})
	await(t, b.begun)
	second := start(func() (command.Answer, error) { return c.Do(t.Context(), pool, payment("k", `{}`), pay) })
	waitUntil(t, pool, waiting, 1)
	close(b.goOn)
	require.ErrorIs(t, await(t, first).err, boom)
	got := await(t, second)
	require.NoError(t, got.err)
	require.False(t, got.Replayed)
	require.Equal(t, 1, ledger(t, pool))
}

// A failure leaves nothing that refuses the next try. (The claim stayed, and the
// command was "processing" for a day.)
func TestFailureReleases(t *testing.T) {
	t.Parallel()
	pool := open(t)
	boom := errors.New("boom")
	for name, fail := range map[string]command.Work{
		"error":        func(context.Context, pgx.Tx) (command.Reply, error) { return command.Reply{}, boom },
		"panic":        func(context.Context, pgx.Tx) (command.Reply, error) { panic(boom) },
		"caller gone":  func(ctx context.Context, _ pgx.Tx) (command.Reply, error) { return command.Reply{}, leave(ctx) },
		"server error": func(context.Context, pgx.Tx) (command.Reply, error) { return command.Reply{Status: 500}, nil },
		"no status":    func(context.Context, pgx.Tx) (command.Reply, error) { return command.Reply{}, nil },
		"body over the cap": func(context.Context, pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: 200, Body: make([]byte, 65)}, nil
		},
		"headers over the cap": func(context.Context, pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: 200, Header: http.Header{"Etag": {strings.Repeat("x", 16<<10)}}}, nil
		},
		"header with a line feed": func(context.Context, pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: 200, Header: http.Header{"Location": {"/\r\nSet-Cookie: a=b"}}}, nil
		},
		"tx committed by the work": func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: 200}, tx.Commit(ctx)
		},
		"tx rolled back by the work": func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: 409}, tx.Rollback(ctx)
		},
		"statement that failed, said to be a success": func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			_, err := tx.Exec(ctx, `UPDATE stock SET pieces = -1`)
			return command.Reply{Status: 200}, errors.Join(err, boom)
		},
	} {
		c := command.Command{Name: "pay", MaxReply: 64}
		call := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					require.Equal(t, "panic", name)
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			_, err = c.Do(mayLeave(t), pool, payment(name, `{}`), func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
				if _, err := pay(ctx, tx); err != nil {
					return command.Reply{}, err
				}
				return fail(ctx, tx)
			})
			return err
		}
		require.Error(t, call(), name)
		require.Equal(t, 0, ledger(t, pool), name)
		got, err := c.Do(t.Context(), pool, payment(name, `{}`), pay)
		require.NoError(t, err, name)
		require.False(t, got.Replayed, name)
		require.Equal(t, 1, ledger(t, pool), name)
		run(t, pool, `TRUNCATE ledger`)
	}
}

// takeOne takes a piece, and refuses when there is none.
func takeOne(sku string) command.Work {
	return func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		if _, err := pay(ctx, tx); err != nil {
			return command.Reply{}, err
		}
		if _, err := tx.Exec(ctx, `UPDATE stock SET pieces = pieces - 1 WHERE sku = $1`, sku); err != nil {
			return command.Reply{Status: 409, Body: []byte("out of stock")}, nil // the CHECK said no
		}
		return command.Reply{Status: 200}, nil
	}
}

// A refusal is a reply: repeated, it says the same, also when there is stock
// meanwhile, and what was written before it is not. (The operation stayed
// "running", and the repeat read 202.)
func TestRefusalIsKept(t *testing.T) {
	t.Parallel()
	pool := open(t)
	var told []command.Outcome
	c := command.Command{Name: "take", Observe: func(_ context.Context, o command.Outcome) { told = append(told, o) }}
	first, err := c.Do(t.Context(), pool, payment("k", `{}`), takeOne("ink"))
	require.NoError(t, err)
	require.Equal(t, 409, first.Status)
	run(t, pool, `UPDATE stock SET pieces = 10`)
	again, err := c.Do(t.Context(), pool, payment("k", `{}`), takeOne("ink"))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, 409, again.Status)
	require.Equal(t, "out of stock", string(again.Body))
	require.Equal(t, 0, ledger(t, pool))
	require.Equal(t, []command.Outcome{command.Refused, command.Replayed}, told)
}

// Whoever may not see a record does not meet it.
func TestWhoseTheKeyIs(t *testing.T) {
	t.Parallel()
	pool := open(t)
	pays, cancels := command.Command{Name: "pay"}, command.Command{Name: "cancel"}
	_, err := pays.Do(t.Context(), pool, payment("k", `{}`), pay)
	require.NoError(t, err)

	for _, tc := range []struct {
		name   string
		of     *command.Command
		change func(*command.Request)
		want   error // nil: the work is done
	}{
		// One constant scope for all users leaked replies.
		{"another tenant", &pays, func(r *command.Request) { r.Scope = "globex" }, nil},
		// A key without the route gave a cancellation the reply of a creation.
		{"another command", &cancels, func(r *command.Request) { r.Path = "/orders/17/cancel" }, nil},
		// The concrete path and the principal were not part of what was compared.
		{"another order's path", &pays, func(r *command.Request) { r.Path = "/orders/18/pay" }, command.ErrMismatch},
		{"another query", &pays, func(r *command.Request) { r.Path += "?force=1" }, command.ErrMismatch},
		{"another method", &pays, func(r *command.Request) { r.Method = "PUT" }, command.ErrMismatch},
		{"another principal of the tenant", &pays, func(r *command.Request) { r.Principal = "bob" }, command.ErrMismatch},
		{"another body", &pays, func(r *command.Request) { r.Body = []byte(`{"x":1}`) }, command.ErrMismatch},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := payment("k", `{}`)
			tc.change(&r)
			got, err := tc.of.Do(t.Context(), pool, r, func(context.Context, pgx.Tx) (command.Reply, error) {
				return command.Reply{Status: 200, Body: []byte("mine")}, nil
			})
			require.ErrorIs(t, err, tc.want)
			if tc.want == nil {
				require.False(t, got.Replayed)
				require.Equal(t, "mine", string(got.Body))
			}
		})
	}
}

// Between the COMMIT and the reply the caller learns nothing; sent again, the
// command gives the reply. (The reply was written to a cache after the COMMIT.)
func TestFailureAfterCommitReplays(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	for point, want := range map[fault.Point]bool{
		command.PointClaimed: false, command.PointDone: false, command.PointCommitted: true,
	} {
		r := payment(string(point), `{}`)
		_, err := c.Do(fault.With(t.Context(), point, fault.Fail), pool, r, pay)
		require.ErrorIs(t, err, fault.ErrInjected)
		got, err := c.Do(t.Context(), pool, r, pay)
		require.NoError(t, err)
		require.Equal(t, want, got.Replayed, point)
		require.Equal(t, 1, ledger(t, pool), point)
		run(t, pool, `TRUNCATE ledger`)
	}
}
