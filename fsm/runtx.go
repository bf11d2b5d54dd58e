package fsm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/internal/sleep"
)

// TxBeginner starts transactions: *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn.
type TxBeginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// TxPolicy bounds how RunTx repeats a transaction. The zero value is usable.
type TxPolicy struct {
	// Options are those of the transaction; READ COMMITTED unless the server
	// is set to another default.
	Options pgx.TxOptions
	// Attempts is how often the transaction may run in all; 0 means 5.
	Attempts int
	// Base is the greatest wait before the second attempt; it doubles with
	// each further one up to Max. 0 means 10 ms, and 1 s.
	Base, Max time.Duration
	// Wait waits between attempts and returns an error when ctx ends; nil
	// means a timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration) error
}

// RunTx runs fn in a transaction and commits it. When fn, or the COMMIT, fails
// with a Retryable error, it rolls back, waits a random part of the bound (full
// jitter) and runs fn again, up to Attempts times. fn therefore must do nothing
// outside tx.
//
// It returns fn's error as it is, after a rollback; ErrNothingDone when BEGIN
// failed, or the COMMIT was refused or not sent; ErrUnknown when the COMMIT was
// lost, or fn ended tx itself, which it never repeats; ErrArgument, before any
// SQL, on a connection whose transaction was begun by hand, which it would
// commit (a pgx.Tx that has a BeginTx makes savepoints, and is none); the last Retryable error, wrapped, when all attempts are used up; and
// that error joined with ctx's when ctx ends in a wait. A panic of fn rolls back and goes on. The
// context's [Observer] is told of each repetition. It is safe for concurrent use as far as db is.
func RunTx(ctx context.Context, db TxBeginner, p TxPolicy, fn func(ctx context.Context, tx pgx.Tx) error) error {
	attempts := p.Attempts
	if attempts <= 0 {
		attempts = 5
	}
	wait := p.Wait
	if wait == nil {
		wait = sleep.For
	}
	for n := 1; ; n++ {
		err := runOnce(ctx, db, p.Options, fn)
		if err == nil || !Retryable(err) {
			return err
		}
		if n == attempts {
			return fmt.Errorf("after %d attempts: %w", n, err)
		}
		if o := observerOf(ctx); o != nil && o.Retried != nil {
			o.Retried(ctx, n, err)
		}
		if werr := wait(ctx, p.backoff(n)); werr != nil {
			return errors.Join(err, werr)
		}
	}
}

// errBegun is why a connection is refused.
var errBegun = errors.New("the connection is in a transaction that was begun by hand, which this would commit: begin it with Begin, and pass the pgx.Tx")

// runOnce is one attempt.
func runOnce(ctx context.Context, db TxBeginner, options pgx.TxOptions, fn func(context.Context, pgx.Tx) error) error {
	_, savepoint := db.(pgx.Tx) // its BeginTx begins nothing that it does not own
	if !savepoint && InTx(db) {
		return fmt.Errorf("%w: %w", ErrArgument, errBegun)
	}
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("%w: begin: %w", ErrNothingDone, err)
	}
	defer rollback(ctx, tx)
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if kind, err := commit(ctx, tx, savepoint); err != nil {
		return fmt.Errorf("%w: commit: %w", kind, err)
	}
	return nil
}

// backoff draws the wait after the n-th attempt, from 0 to its bound.
func (p TxPolicy) backoff(n int) time.Duration {
	bound := p.bound(n)
	if bound == math.MaxInt64 {
		bound-- // the draw leaves out its end, so one more must fit
	}
	return rand.N(bound + 1)
}

// bound is the greatest wait after the n-th attempt, min(Max, Base·2^(n−1)).
func (p TxPolicy) bound(n int) time.Duration {
	base, limit := p.Base, p.Max
	if base <= 0 {
		base = 10 * time.Millisecond
	}
	if limit <= 0 {
		limit = time.Second
	}
	d := min(base, limit)
	for range n - 1 {
		if d > limit/2 { // twice d would be more, or overflow
			return limit
		}
		d *= 2
	}
	return d
}
