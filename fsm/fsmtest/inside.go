package fsmtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// serverClock lets a call take the server's time. In a transaction it stands still.
func serverClock(c *fsm.Call) { c.Now = nil }

// within runs do in a transaction of REPEATABLE READ, at the transaction's own
// time, and rolls it back.
func (e *engine) within(t *testing.T, do func(ctx context.Context, tx pgx.Tx, now time.Time)) {
	t.Helper()
	ctx := t.Context()
	tx, err := e.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var now time.Time
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		t.Fatalf("ask the time: %v", err)
	}
	do(ctx, tx, now)
}

const insideStep = "in a transaction, by the server's clock"

// inside makes the call in such a transaction: it must do all that it does
// alone, and say that its answer is of a snapshot.
func (f *firing) inside(j judged) {
	f.t.Helper()
	f.e.within(f.t, func(ctx context.Context, tx pgx.Tx, now time.Time) {
		s := f.shot()
		s.at = now
		before, err := f.e.look(ctx, tx, f.row)
		if err != nil {
			f.fatal(insideStep, "look at the row: %v", err)
		}
		must, err := f.e.expect(ctx, tx, f.row, before, s, j)
		if err != nil {
			f.fatal(insideStep, "ask what must be: %v", err)
		}
		got, err := f.e.fire(ctx, tx, f.event, f.row, f.values, append(f.any(), serverClock)...)
		f.insideAnswer(ctx, tx, j.outcome, got, err, before, must)
	})
}

// insideAnswer compares what a call in a transaction says, and leaves there.
func (f *firing) insideAnswer(ctx context.Context, tx pgx.Tx, want fsm.Outcome, got Answer, err error, before, must snapshot) {
	f.t.Helper()
	if err != nil || got.Outcome != want {
		f.fatal(insideStep, "%s, error %v, want %s", got.Outcome, err, want)
	}
	after, err := f.e.look(ctx, tx, f.row)
	if err != nil {
		f.fatal(insideStep, "look at the row: %v", err)
	}
	f.e.leave(before, must, after)
	if d := difference(must, after); d != "" {
		f.fatal(insideStep, "%s, and left other than it must (- want, + got)%s", got.Outcome, d)
	}
	if !got.Snapshot {
		f.fatal(insideStep, "%s is not marked as of a snapshot", got.Outcome)
	}
}
