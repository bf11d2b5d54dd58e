package lock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Class is the first of the two numbers of each advisory lock, "pawl" as a number;
// the second is made of the name. Locks of one number, such as those of migration
// tools, are others. Two names of one number wait for each other once in a while,
// and no harm is done, but for a function that holds one and asks for the other:
// it is refused when the wait is over.
const Class int32 = 0x7061776c

// Config says how a Postgres works.
type Config struct {
	// Wait is how long a lock is waited for; 0 means 5 s.
	Wait time.Duration
	// MaxHold is how long a lock may be held; required. The function's context
	// ends then. The lock stays until the function returns.
	MaxHold time.Duration
	// Check is how often With looks whether its connection, and with it the
	// lock, is still there; 0 means 1 s. It waits 5 s for the answer.
	Check time.Duration
}

// Postgres has locks as advisory locks of transactions. It needs a connection for
// each lock that is held or waited for; of callers that wait for one name in this
// process, one alone has a connection. A function that runs With takes its own
// connections beside: give locks a pool of their own, or room in the pool. A lock
// whose process or connection dies is free once the server notices.
type Postgres struct {
	db     fsm.TxBeginner
	config Config
	gate   Gate
}

// NewPostgres returns a locker on a pool. The error is fsm.ErrArgument for a
// duration that cannot be.
func NewPostgres(db fsm.TxBeginner, c Config) (*Postgres, error) {
	if c.MaxHold <= 0 {
		return nil, fmt.Errorf("%w: the longest hold of a lock is not positive", fsm.ErrArgument)
	}
	if c.Wait < 0 || c.Check < 0 {
		return nil, fmt.Errorf("%w: a duration of a locker is negative", fsm.ErrArgument)
	}
	if c.Wait == 0 {
		c.Wait = 5 * time.Second
	}
	if c.Check == 0 {
		c.Check = time.Second
	}
	return &Postgres{db: db, config: c}, nil
}

// readCommitted is asked for, whatever the server's default is.
var readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// With is Locker's. The transaction that holds the lock does nothing else.
func (p *Postgres) With(ctx context.Context, name string, fn func(ctx context.Context, held Held) error) error {
	return p.enter(ctx, name, func(begin beginner, over time.Time) error {
		tx, err := begin.BeginTx(ctx, readCommitted)
		if err != nil {
			return err
		}
		open := true
		defer func() { // after a panic too
			if open {
				_ = end(ctx, tx)
			}
		}()
		held, err := InTx(ctx, tx, name, left(over))
		if err != nil {
			return err
		}
		inner, lose, free := Holding(ctx, p.config.MaxHold)
		defer free()
		stop := p.watch(inner, tx, lose)
		err = func() error { defer stop(); return fn(inner, held) }()
		open = false
		if endErr := end(ctx, tx); endErr != nil {
			lose(fmt.Errorf("%w: %w", ErrLost, endErr))
		}
		return Outcome(inner, err)
	})
}

// WithTx is With for work in the very transaction that holds the lock, on one
// connection, and commits it. fn reads in statements after the lock, so it sees
// what earlier holders committed. It never repeats the transaction; an error is
// fn's or fsm.RunTx's as well.
func (p *Postgres) WithTx(ctx context.Context, name string, fn func(ctx context.Context, tx pgx.Tx, held Held) error) error {
	return p.enter(ctx, name, func(begin beginner, over time.Time) error {
		return fsm.RunTx(ctx, begin, once, func(ctx context.Context, tx pgx.Tx) error {
			held, err := InTx(ctx, tx, name, left(over))
			if err != nil {
				return err
			}
			inner, _, free := Holding(ctx, p.config.MaxHold)
			defer free()
			return Outcome(inner, fn(inner, tx, held))
		})
	})
}

// once is a transaction that is not repeated.
var once = fsm.TxPolicy{Options: readCommitted, Attempts: 1}

// enter passes the gate, and tells by when the lock must be had.
func (p *Postgres) enter(ctx context.Context, name string, then func(begin beginner, over time.Time) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	over := time.Now().Add(p.config.Wait)
	waiting, cancel := context.WithDeadlineCause(ctx, over, ErrNotAcquired)
	defer cancel()
	leave, err := p.gate.Enter(waiting, name)
	if err != nil {
		return err
	}
	defer leave()
	return then(beginner{p.db, waiting}, over)
}

// left is what is left of the wait, and never nothing.
func left(over time.Time) time.Duration { return max(time.Until(over), time.Millisecond) }

// beginner begins transactions, and waits for a connection of the pool for no
// longer than for the lock.
type beginner struct {
	db      fsm.TxBeginner
	waiting context.Context
}

// BeginTx begins a transaction for ctx, which waiting is a child of.
func (b beginner) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := b.db.BeginTx(b.waiting, options)
	switch {
	case err == nil:
		return tx, nil
	case ctx.Err() == nil && b.waiting.Err() != nil:
		return nil, fmt.Errorf("%w: no connection: %w", context.Cause(b.waiting), err)
	}
	return nil, begun(ctx, err)
}

// watch looks, now and then, whether the transaction is there, and calls lose when
// it is not. It uses the connection until stop has returned.
func (p *Postgres) watch(ctx context.Context, tx pgx.Tx, lose func(error)) (stop func()) {
	stopped, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(p.config.Check)
		defer ticker.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticker.C:
			}
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
			_, err := tx.Exec(bounded, `SELECT`)
			cancel()
			if err != nil {
				lose(fmt.Errorf("%w: %w", ErrLost, err))
				return
			}
		}
	}()
	return func() {
		close(stopped)
		<-gone
	}
}

// answerTimeout bounds what does not listen to the caller's context: the end of a
// transaction, and the question whether it is there. A server that has lost sight
// of a connection keeps its locks for far longer.
const answerTimeout = 5 * time.Second

// end ends a transaction that did nothing but hold a lock.
func end(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	return tx.Commit(ctx)
}

// begun says what a failed BEGIN is.
func begun(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unavailable("begin", err)
}

// lockNotAvailable is the SQLSTATE of a lock_timeout that is over.
const lockNotAvailable = "55P03"

// The level is asked for before the lock is: under another one the transaction's
// snapshot would be from before the wait. lock_timeout is set for the wait alone.
// OFFSET 0 has it read before it is set.
const (
	patienceSQL = `SELECT s.was, s.level, set_config('lock_timeout', $1, true)
FROM (SELECT current_setting('lock_timeout') AS was, current_setting('transaction_isolation') AS level OFFSET 0) AS s`
	lockSQL    = `SELECT pg_advisory_xact_lock($1::int, $2::int)`
	restoreSQL = `SELECT set_config('lock_timeout', $1, true)`
)

// InTx acquires the lock in a transaction of the caller's, which releases it when
// it ends, and waits for no longer than wait. What the caller reads in later
// statements is as earlier holders left it. The transaction must be READ
// COMMITTED, or the error is ErrIsolation; after another error, ErrNotAcquired
// say, the transaction can only be rolled back.
func InTx(ctx context.Context, tx pgx.Tx, name string, wait time.Duration) (Held, error) {
	if err := CheckName(name); err != nil {
		return Held{}, err
	}
	if wait < time.Millisecond { // 0 would be no bound to PostgreSQL
		return Held{}, fmt.Errorf("%w: the wait for a lock is under a millisecond", fsm.ErrArgument)
	}
	var was, level string
	patience := strconv.FormatInt(min(wait, maxWait).Milliseconds(), 10)
	if err := tx.QueryRow(ctx, patienceSQL, patience).Scan(&was, &level, nil); err != nil {
		return Held{}, begun(ctx, err)
	}
	if level != "read committed" {
		return Held{}, fmt.Errorf("%w: it is %s", ErrIsolation, level)
	}
	if _, err := tx.Exec(ctx, lockSQL, Class, number(name)); err != nil {
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == lockNotAvailable {
			return Held{}, fmt.Errorf("%w: %w", ErrNotAcquired, err)
		}
		return Held{}, begun(ctx, err)
	}
	if _, err := tx.Exec(ctx, restoreSQL, was); err != nil {
		return Held{}, begun(ctx, err)
	}
	if err := fault.At(ctx, PointAcquired); err != nil {
		return Held{}, err
	}
	fence, err := NextFence(ctx, tx)
	if err != nil {
		return Held{}, err
	}
	return NewHeld(name, fence), nil
}

// maxWait is the greatest lock_timeout, 2^31 − 1 ms.
const maxWait = (1<<31 - 1) * time.Millisecond

// number is the second number of a name's advisory lock: 32 bits of its SHA-256.
func number(name string) int32 {
	sum := sha256.Sum256([]byte(name))
	return int32(binary.BigEndian.Uint32(sum[:4]))
}
