package command_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/fault"
)

// leased declares a command whose lease no test outlives by accident.
func leased() command.Command { return command.Command{Name: "pay", Lease: time.Minute} }

// charge stands for a call to a provider; the reply names who did it.
func charge(who string) command.LeasedWork {
	return func(context.Context, *command.Lease) (command.Reply, error) {
		return command.Reply{Status: 200, Body: []byte(who)}, nil
	}
}

// book writes the ledger and keeps the reply in one transaction.
func book(ctx context.Context, pool *pgxpool.Pool, l *command.Lease, who string) (command.Reply, error) {
	reply := command.Reply{Status: 200, Body: []byte(who)}
	return reply, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := pay(ctx, tx); err != nil {
			return err
		}
		return l.CompleteTx(ctx, tx, reply)
	})
}

// booking is the work that a LeasedWork should be.
func booking(pool *pgxpool.Pool, who string) command.LeasedWork {
	return func(ctx context.Context, l *command.Lease) (command.Reply, error) { return book(ctx, pool, l, who) }
}

func neverLeased(context.Context, *command.Lease) (command.Reply, error) {
	return command.Reply{}, errors.New("this must not run")
}

// runOut ends the lease of the one record, as time would.
func runOut(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	run(t, pool, `UPDATE fsm_command SET lease_until = clock_timestamp() WHERE owner <> ''`)
}

func TestLeasedTwice(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(*pgxpool.Pool) command.LeasedWork{
		"reply kept afterwards":                func(*pgxpool.Pool) command.LeasedWork { return charge("first") },
		"reply kept in the work's transaction": func(p *pgxpool.Pool) command.LeasedWork { return booking(p, "first") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := leased()
			first, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), work(pool))
			require.NoError(t, err)
			require.False(t, first.Replayed)
			require.Equal(t, "first", string(first.Body))
			again, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			require.NoError(t, err)
			require.True(t, again.Replayed)
			require.Equal(t, "first", string(again.Body))
			require.True(t, again.At.Equal(first.At))
		})
	}
}

// Behind a provider's call a header that cannot be kept is no reason to call again: the
// reply is kept without it. In a transaction, where nothing is done yet, it is an error.
func TestHeadersThatCannotBeKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 12<<10)
	for name, c := range map[string]struct{ given, kept http.Header }{
		"too large together":  {http.Header{"Location": {long}, "Etag": {long + "y"}, "Content-Type": {"text/plain"}}, http.Header{"Location": {long}, "Content-Type": {"text/plain"}}},
		"one too large":       {http.Header{"Location": {long, long}, "Content-Type": {"text/plain"}}, http.Header{"Content-Type": {"text/plain"}}},
		"the body's encoding": {http.Header{"Content-Encoding": {"gzip\n"}, "Etag": {"1"}}, http.Header{"Etag": {"1"}}},
		"control characters":  {http.Header{"Location": {"/a\r\nX: 1"}, "Etag": {"1"}}, http.Header{"Etag": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			one := leased()
			calls := 0
			for _, replayed := range []bool{false, true, true} {
				got, err := one.DoLeased(t.Context(), pool, payment("k", `{}`), func(context.Context, *command.Lease) (command.Reply, error) {
					calls++
					return command.Reply{Status: 201, Header: c.given, Body: []byte("paid")}, nil
				})
				require.NoError(t, err)
				require.Equal(t, replayed, got.Replayed)
				if !replayed || c.given.Get("Content-Encoding") == "" {
					require.Equal(t, "paid", string(got.Body))
				} else {
					require.Empty(t, got.Body, "nobody can read what is encoded nobody knows how")
				}
				if replayed {
					require.Equal(t, c.kept, got.Header)
				}
			}
			require.Equal(t, 1, calls)

			other := command.Command{Name: "order"}
			_, err := other.Do(t.Context(), pool, payment("k", `{}`), func(context.Context, pgx.Tx) (command.Reply, error) {
				return command.Reply{Status: 201, Header: c.given}, nil
			})
			require.ErrorIs(t, err, command.ErrReply)
			require.NotContains(t, err.Error(), "xxx", "no value is told")
		})
	}
}

// Of fifty at once one works, and the others are told to ask again or get the
// reply; none fails.
func TestFiftyLeasedAtOnce(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = c.DoLeased(t.Context(), pool, payment("k", `{}`), booking(pool, "any"))
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, command.ErrInProgress)
		}
	}
	require.Equal(t, 1, ledger(t, pool))
	again, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
	require.NoError(t, err)
	require.True(t, again.Replayed)
}

// While one works, an equal request is told to ask again, another one that the key
// is taken. A restart's recovery, or a parallel start, runs nothing twice.
func TestWhileOneWorks(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	b := newBlocking()
	first := start(func() (command.Answer, error) {
		return c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			if err := b.wait(ctx); err != nil {
				return command.Reply{}, err
			}
			return book(ctx, pool, l, "first")
		})
	})
	await(t, b.begun)
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
	require.ErrorIs(t, err, command.ErrInProgress)
	var busy *command.InProgressError
	require.ErrorAs(t, err, &busy)
	require.Greater(t, busy.Lease, 30*time.Second)
	require.LessOrEqual(t, busy.Lease, time.Minute)
	_, err = c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.ErrorIs(t, err, command.ErrInProgress, "whatever the policy")
	_, err = c.DoLeased(t.Context(), pool, payment("k", `{"x":1}`), neverLeased)
	require.ErrorIs(t, err, command.ErrMismatch)
	close(b.goOn)
	require.NoError(t, await(t, first).err)
	require.Equal(t, 1, ledger(t, pool))
}

// late runs a work whose lease runs out and is taken over, by a call that is done,
// before it completes; complete is what it then does. It returns what the late one
// was told, and both fences.
func late(t *testing.T, pool *pgxpool.Pool, complete command.LeasedWork) (told result, fences [2]int64) {
	t.Helper()
	c := leased()
	b := newBlocking()
	first := start(func() (command.Answer, error) {
		return c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			fences[0] = l.Fence()
			if err := b.wait(ctx); err != nil {
				return command.Reply{}, err
			}
			return complete(context.WithoutCancel(ctx), l)
		})
	})
	await(t, b.begun)
	runOut(t, pool)
	var outcomes []command.Outcome
	c2 := leased()
	c2.Observe = func(_ context.Context, o command.Outcome) { outcomes = append(outcomes, o) }
	second, err := c2.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
		fences[1] = l.Fence()
		return book(ctx, pool, l, "second")
	})
	require.NoError(t, err)
	require.False(t, second.Replayed)
	require.Equal(t, []command.Outcome{command.TakenOver, command.Done}, outcomes)
	close(b.goOn)
	return await(t, first), fences
}

// A late owner neither books nor changes the reply.
func TestLateOwnerCompletesNothing(t *testing.T) {
	t.Parallel()
	for name, complete := range map[string]func(*pgxpool.Pool) command.LeasedWork{
		"reply kept afterwards":                func(*pgxpool.Pool) command.LeasedWork { return charge("late") },
		"reply kept in the work's transaction": func(p *pgxpool.Pool) command.LeasedWork { return booking(p, "late") },
		"work says it is done all the same": func(p *pgxpool.Pool) command.LeasedWork {
			return func(ctx context.Context, l *command.Lease) (command.Reply, error) {
				reply, _ := book(ctx, p, l, "late")
				return reply, nil
			}
		},
		"work fails": func(*pgxpool.Pool) command.LeasedWork {
			return func(context.Context, *command.Lease) (command.Reply, error) {
				return command.Reply{}, command.ErrLeaseLost
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			told, fences := late(t, pool, complete(pool))
			require.ErrorIs(t, told.err, command.ErrLeaseLost)
			require.Greater(t, fences[1], fences[0])
			require.Equal(t, 1, ledger(t, pool))
			c := leased()
			again, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			require.NoError(t, err)
			require.Equal(t, "second", string(again.Body))
		})
	}
}

// A completion that asks for the key alone books twice and overwrites the reply:
// what the staging catches.
func TestLateOwnerWithoutCompareBooksTwice(t *testing.T) {
	t.Parallel()
	pool := open(t)
	late(t, pool, func(ctx context.Context, _ *command.Lease) (command.Reply, error) {
		return command.Reply{}, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := pay(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE fsm_command SET body = 'late', done_at = now() WHERE key = 'k'`)
			return err
		})
	})
	require.Equal(t, 2, ledger(t, pool))
	require.Equal(t, "late", ask[string](t, pool, `SELECT convert_from(body, 'UTF8') FROM fsm_command`))
}

// The fence keeps a late owner out of a business row, also one who writes there
// without completing.
func TestFenceInABusinessRow(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, fences := late(t, pool, charge("late"))
	fenced := func(fence int64) int64 {
		tag, err := pool.Exec(t.Context(), `UPDATE stock SET pieces = pieces + 1, fence = $1 WHERE sku = 'pen' AND fence <= $1`, fence)
		require.NoError(t, err)
		return tag.RowsAffected()
	}
	require.EqualValues(t, 1, fenced(fences[1]))
	require.EqualValues(t, 0, fenced(fences[0]))
}

// The fence grows too when the record was archived and made anew.
func TestFenceOutlivesTheRecord(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	fences := make([]int64, 0, 2)
	for range 2 {
		_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(_ context.Context, l *command.Lease) (command.Reply, error) {
			fences = append(fences, l.Fence())
			return command.Reply{Status: 200}, nil
		})
		require.NoError(t, err)
		run(t, pool, `DELETE FROM fsm_command`)
	}
	require.Greater(t, fences[1], fences[0])
}

// A failure gives the claim back: the next call works at once, not after the lease.
func TestLeasedFailureReleases(t *testing.T) {
	t.Parallel()
	pool := open(t)
	boom := errors.New("boom")
	for name, fail := range map[string]command.LeasedWork{
		"error":        func(context.Context, *command.Lease) (command.Reply, error) { return command.Reply{}, boom },
		"panic":        func(context.Context, *command.Lease) (command.Reply, error) { panic(boom) },
		"server error": func(context.Context, *command.Lease) (command.Reply, error) { return command.Reply{Status: 503}, nil },
		"reply over the cap": func(context.Context, *command.Lease) (command.Reply, error) {
			return command.Reply{Status: 200, Body: make([]byte, 65<<10)}, nil
		},
		"completed, rolled back, and said to be done": func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return command.Reply{}, err
			}
			reply := command.Reply{Status: 200}
			return reply, errors.Join(l.CompleteTx(ctx, tx, reply), tx.Rollback(ctx))
		},
		"caller gone": func(ctx context.Context, _ *command.Lease) (command.Reply, error) {
			return command.Reply{}, leave(ctx)
		},
		"completed on a pool": func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			return command.Reply{Status: 200}, l.CompleteTx(ctx, pool, command.Reply{Status: 200})
		},
		"completed twice": func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			return command.Reply{}, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
				reply := command.Reply{Status: 200}
				return errors.Join(l.CompleteTx(ctx, tx, reply), l.CompleteTx(ctx, tx, reply))
			})
		},
	} {
		c := leased()
		call := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					require.Equal(t, "panic", name)
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			_, err = c.DoLeased(mayLeave(t), pool, payment(name, `{}`), fail)
			return err
		}
		err := call()
		require.Error(t, err, name)
		if strings.HasPrefix(name, "completed, rolled back") {
			require.ErrorContains(t, err, "the transaction with the reply was not committed")
		}
		got, err := c.DoLeased(t.Context(), pool, payment(name, `{}`), booking(pool, "second"))
		require.NoError(t, err, name)
		require.False(t, got.Replayed, name)
		require.Equal(t, 1, ledger(t, pool), name)
		run(t, pool, `TRUNCATE ledger`)
	}
}

// Zero is not "not given": without a lease, or for a caller whose time is over,
// nothing is claimed. (A remaining time of 0 was stored as no lease, and the
// command was refused for ever.)
func TestNoLeaseNoClaim(t *testing.T) {
	t.Parallel()
	pool := open(t)
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for name, call := range map[string]func() error{
		"no lease": func() error {
			c := command.Command{Name: "pay"}
			_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			return err
		},
		"a lease that PostgreSQL would round to none": func() error {
			c := command.Command{Name: "pay", Lease: time.Nanosecond}
			_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			return err
		},
		"negative lease": func() error {
			c := command.Command{Name: "pay", Lease: -time.Second}
			_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			return err
		},
		"a single connection": func() error {
			c := leased()
			_, err := c.DoLeased(t.Context(), conn, payment("k", `{}`), neverLeased)
			return err
		},
		"time is over": func() error {
			c := leased()
			_, err := c.DoLeased(over, pool, payment("k", `{}`), neverLeased)
			return err
		},
		"time is over, in a transaction": func() error {
			c := leased()
			_, err := c.Do(over, pool, payment("k", `{}`), never)
			return err
		},
	} {
		err := call()
		require.True(t, errors.Is(err, fsm.ErrArgument) || errors.Is(err, fsm.ErrNothingDone), "%s: %v", name, err)
		require.Equal(t, 0, ask[int](t, pool, `SELECT count(*) FROM fsm_command`), name)
	}

	c := leased()
	_, err = c.DoLeased(t.Context(), pool, payment("k", `{}`), charge("first"))
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `UPDATE fsm_command SET lease_until = NULL`)
	require.ErrorContains(t, err, "not-null", "the table has no record without a lease")
}

// A crash after the claim keeps the command for the lease, and no longer; one
// after the COMMIT replays.
func TestLeasedFailureAtThePoints(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	for _, tc := range []struct {
		point    fault.Point
		replayed bool
	}{{command.PointClaimed, false}, {command.PointDone, false}, {command.PointCommitted, true}} {
		r := payment(string(tc.point), `{}`)
		_, err := c.DoLeased(fault.With(t.Context(), tc.point, fault.Fail), pool, r, booking(pool, "first"))
		require.ErrorIs(t, err, fault.ErrInjected)
		got, err := c.DoLeased(t.Context(), pool, r, booking(pool, "second"))
		require.NoError(t, err)
		require.Equal(t, tc.replayed, got.Replayed, tc.point)
		require.Equal(t, 1, ledger(t, pool), tc.point)
		run(t, pool, `TRUNCATE ledger`)
	}
}
