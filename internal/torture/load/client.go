package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/torture/journal"
)

// client makes the calls of one bundle, one after the other.
type client struct {
	*service
	bundle int
	rand   *rand.Rand
	// seen are the versions that it was told last, by key.
	seen map[string]int64
}

// callTimeout is how long a client waits for one call.
const callTimeout = 3 * time.Second

// call is a call of a step as the journal has it.
func (c *client) call(s step, how string) *journal.Call {
	v := c.verbs[s.verb]
	machine, event, _ := strings.Cut(s.verb, " ")
	call := &journal.Call{
		ID: c.id(), Bundle: c.bundle, Group: s.order / groupOrders, Machine: machine, Event: event, Key: s.key,
		Params: v.values(s.p), Identity: v.identity(s.p), Mode: how,
	}
	if s.expects {
		call.Version = c.seen[s.key]
	}
	return call
}

// must makes a call until it has a definite answer, as the documents say: the same
// call again, whatever is not known. It gives up when ctx ends alone.
func (c *client) must(ctx context.Context, s step) {
	for try := 0; ctx.Err() == nil; try++ {
		a := c.once(ctx, s)
		if a.Outcome != journal.Nothing && a.Outcome != journal.Unknown {
			return
		}
		c.pause(ctx, try)
	}
}

// pause waits a little longer each time.
func (c *client) pause(ctx context.Context, try int) {
	bound := min(5*time.Millisecond<<min(try, 6), 300*time.Millisecond)
	timer := time.NewTimer(bound/2 + rand.N(bound/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// once makes the call once, in one of the ways in which users make single calls, and
// notes what it was told.
func (c *client) once(ctx context.Context, s step) *journal.Answer {
	way := c.way(s)
	call := c.call(s, way)
	var then effect
	if c.thens(s, way) {
		call.Then, call.ID = true, "T"+call.ID
		then = c.effect(s, call.ID)
	}
	options := []fsm.Option{fsm.Actor("client"), fsm.RequestID(call.ID)}
	if call.Version != 0 {
		options = append(options, fsm.ExpectVersion(call.Version))
	}
	c.journal.Ask(call)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	t, runs, err := c.make(ctx, s, way, then, options)
	a := answer(call.ID, t, err)
	a.Runs = runs
	c.journal.Tell(a)
	if a.Version != 0 {
		c.seen[s.key] = a.Version
	}
	return a
}

// Ways of single calls.
const (
	wayPool  = "single"
	waySmall = "small pool"
	wayLock  = "under a lock"
	wayRead  = "tx read committed"
	wayRR    = "tx repeatable read"
	waySer   = "tx serializable"
)

// way draws how a call is made.
func (c *client) way(s step) string {
	if modeOf(c.Seed, c.bundle) == modeTx {
		all := []string{wayRead, wayRR, waySer}
		if !c.Isolation {
			all = all[:1]
		}
		return all[c.rand.IntN(len(all))]
	}
	switch n := c.rand.IntN(12); {
	case n == 0 && c.SmallPool:
		return waySmall
	case n == 1 && s.verb == "order payment_succeeded" && c.locks != nil:
		return wayLock
	}
	return wayPool
}

// thens draws whether an effect hangs on the call.
func (c *client) thens(s step, way string) bool {
	switch s.verb {
	case "order payment_succeeded":
		return way != waySmall && c.rand.IntN(2) == 0
	case "order refund", "refund succeed":
		return c.rand.IntN(8) == 0
	}
	return false
}

// make makes the call.
func (c *client) make(ctx context.Context, s step, way string, then effect, options []fsm.Option) (t told, runs int, err error) {
	fire := func(ctx context.Context, db fsm.DB) (told, error) {
		if broken := c.Engine; broken != nil && s.verb == "order payment_succeeded" {
			return brokenCall(ctx, broken, db, s, then, options)
		}
		return c.verbs[s.verb].single(ctx, db, s.key, s.p, then, options...)
	}
	switch way {
	case waySmall:
		t, err = fire(ctx, c.small)
	case wayLock:
		err = c.locked(ctx, "order/"+s.key, func(ctx context.Context) error {
			t, err = fire(ctx, c.pool)
			return err
		})
	case wayRead, wayRR, waySer:
		level := map[string]pgx.TxIsoLevel{wayRead: pgx.ReadCommitted, wayRR: pgx.RepeatableRead, waySer: pgx.Serializable}[way]
		err = fsm.RunTx(ctx, c.pool, fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: level}}, func(ctx context.Context, tx pgx.Tx) (err error) {
			runs++
			t, err = fire(ctx, tx)
			return err
		})
	default:
		t, err = fire(ctx, c.pool)
	}
	return t, runs, err
}

// answer is what the journal keeps of an answer. An error that comes with an outcome
// counts: a transaction may have been lost after it.
func answer(id string, t told, err error) *journal.Answer {
	a := &journal.Answer{ID: id}
	switch {
	case err == nil:
		a.Outcome, a.State, a.Version, a.Columns, a.Made, a.Snapshot = string(t.outcome), t.state, t.version, t.columns, t.made, t.snapshot
		return a
	case errors.Is(err, fsm.ErrNotFound):
		a.Outcome = journal.NotFound
		return a
	case errors.Is(err, fsm.ErrArgument):
		a.Outcome = journal.BadArgument
	case errors.Is(err, fsm.ErrUnknown):
		a.Outcome = journal.Unknown
	case errors.Is(err, fsm.ErrNothingDone), errors.Is(err, fsm.ErrContended), fsm.Retryable(err), errors.Is(err, errNoLock):
		a.Outcome = journal.Nothing
	case thenFailed(err):
		a.Outcome = journal.Nothing
	default:
		a.Outcome = journal.Strange
	}
	a.Error = reason(err)
	return a
}

// thenFailed reports whether an effect failed, with which the transition was rolled
// back: its error is the call's.
func thenFailed(err error) bool {
	var e *fsm.CallError
	return errors.As(err, &e) && e.Kind == nil
}

// reason is a short word for an error: its SQLSTATE, or what the network did.
func reason(err error) string {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &pg):
		return pg.Code
	case errors.Is(err, fsm.ErrContended):
		return "contended"
	case errors.Is(err, errNoLock):
		return "no lock"
	case errors.As(err, &connect):
		return "no connection"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	text := err.Error()
	for _, word := range []string{"unexpected EOF", "connection reset", "broken pipe", "conn closed", "closed pool", "use of closed", "the batch ended before this item"} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return fmt.Sprintf("%.80s", text[max(0, len(text)-80):])
}
