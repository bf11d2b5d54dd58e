package record

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Tx records calls in a transaction of the caller's. What they answer is provisional,
// and is recorded when the transaction has ended: as it was told when it was committed,
// as nothing done when it was rolled back, and as unknown when nobody knows.
type Tx struct {
	r  *Recorder
	of *txn
}

// txn is a transaction, whichever machines it calls.
type txn struct {
	since int64

	mu      sync.Mutex
	waiting []*line
	ended   bool
}

// Begin returns a recorder for one transaction. Call it before the transaction takes
// its snapshot: answers from the snapshot are then known to be as old as this.
func (r *Recorder) Begin() *Tx { return &Tx{r, &txn{since: r.to.now()}} }

// For returns a recorder for another machine in the same transaction.
func (t *Tx) For(machine string) *Tx { return &Tx{t.r.For(machine), t.of} }

// Invoke records the beginning of a call in the transaction.
func (t *Tx) Invoke(client string, key any, event string, params any, options ...fsm.Option) *Pending {
	return t.r.invoke(client, key, event, params, options, t.of)
}

// Ended records the end of the transaction with what its COMMIT returned: nil says that
// it was committed, an error that is [fsm.ErrUnknown], or a driver's own of which
// [fsm.ErrNothingDone] is not known, that it may have been. Call [Tx.RolledBack] where
// no COMMIT was sent. Only the first end counts.
func (t *Tx) Ended(err error) {
	switch {
	case err == nil:
		t.end("")
	case errors.Is(err, fsm.ErrNothingDone), errors.Is(err, pgx.ErrTxCommitRollback):
		t.RolledBack()
	default:
		t.end(errorUnknown)
	}
}

// RolledBack records that nothing of the transaction took effect.
func (t *Tx) RolledBack() { t.end(errorNothingDone) }

func (t *Tx) end(failure string) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.of.ended {
		return
	}
	t.of.ended = true
	for i, l := range t.of.waiting {
		if failure != "" {
			t.of.waiting[i] = &line{Type: typeReturn, ID: l.ID, Error: failure}
		}
	}
	t.r.to.write(t.of.waiting...)
}

// wait keeps an answer until the transaction ends, and reports whether it did not yet.
func (t *txn) wait(l *line) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.waiting = append(t.waiting, l)
	}
	return !t.ended
}

// RunTx is [fsm.RunTx] with a recorder for each attempt: fn makes its calls on calls,
// and what they answered is recorded when the attempt has ended.
func RunTx(ctx context.Context, db fsm.TxBeginner, p fsm.TxPolicy, r *Recorder, fn func(ctx context.Context, tx pgx.Tx, calls *Tx) error) error {
	var current *Tx
	var failed error
	err := fsm.RunTx(ctx, db, p, func(ctx context.Context, tx pgx.Tx) error {
		if current != nil {
			current.RolledBack() // RunTx repeats only what certainly did nothing
		}
		current = r.Begin()
		failed = fn(ctx, tx, current)
		return failed
	})
	switch {
	case current == nil: // it never began
	case failed != nil && !errors.Is(failed, fsm.ErrUnknown):
		current.RolledBack()
	default:
		current.Ended(err)
	}
	return err
}
