package fsmtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// meet starts a call in a session of its own while another session holds what it
// needs, commits that once the call waits for it, and returns what the call said.
// referred looks at what the holder must leave to others.
func (e *engine) meet(t *testing.T, label string, hold func(tx pgx.Tx) error, call func(ctx context.Context, on fsm.DB) (Answer, error), referred func()) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	held, err := e.pool.Begin(ctx)
	if err != nil {
		t.Fatalf("%s: begin: %v", label, err)
	}
	defer func() { _ = held.Rollback(context.WithoutCancel(ctx)) }()
	if err := hold(held); err != nil {
		t.Fatalf("%s: the first call: %v", label, err)
	}
	referred()
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		t.Fatalf("%s: another session: %v", label, err)
	}
	done, pid := make(chan said, 1), conn.Conn().PgConn().PID()
	go func() {
		defer conn.Release()
		a, err := call(ctx, conn)
		done <- said{a, err}
	}()
	e.awaitBlocked(ctx, t, label, held.Conn().PgConn().PID(), pid, done)
	if err := held.Commit(ctx); err != nil {
		t.Fatalf("%s: commit: %v", label, err)
	}
	a := <-done
	if a.err != nil {
		t.Fatalf("%s: %v", label, a.err)
	}
	return a.Answer
}

// awaitBlocked returns once one session waits for the other. A call that ends
// before fails the test.
func (e *engine) awaitBlocked(ctx context.Context, t *testing.T, label string, holder, waiter uint32, done chan said) {
	t.Helper()
	ask := time.NewTicker(time.Millisecond) // so that asking does not keep the others from running
	defer ask.Stop()
	for {
		select {
		case a := <-done:
			t.Fatalf("%s: %s, error %v: it did not wait for the first call", label, a.Outcome, a.err)
		case <-ask.C:
		}
		var waits bool
		if err := e.pool.QueryRow(ctx, "SELECT $1::integer = ANY (pg_blocking_pids($2::integer))", holder, waiter).Scan(&waits); err != nil {
			t.Fatalf("%s: see who waits: %v", label, err)
		}
		if waits {
			return
		}
	}
}

// twoCorrections lets a correction meet another one: it must wait, and then go
// on from where the first has put the row.
func (e *engine) twoCorrections(t *testing.T) {
	t.Helper()
	var open []string
	for _, s := range e.m.States {
		if !s.Retired {
			open = append(open, s.Name)
		}
	}
	if len(open) < 3 {
		return
	}
	f := &firing{e: e, t: t, label: e.m.Name + ", two corrections", state: open[0], event: &Event{Name: correctEvent}}
	f.row = f.newRow()
	correct := func(ctx context.Context, on fsm.DB, to string) (Answer, error) {
		c := e.call(ctx, on, e.keyList(f.row), nil)
		c.To = to
		return e.m.Correct(c)
	}
	got := e.meet(t, f.label,
		func(tx pgx.Tx) error { _, err := correct(t.Context(), tx, open[1]); return err },
		func(ctx context.Context, on fsm.DB) (Answer, error) { return correct(ctx, on, open[2]) },
		func() { e.referred(f) })
	want := fsm.Transition[string]{Event: correctEvent, Outcome: fsm.Applied, From: open[1], To: open[2], Version: seedVersion + 2}
	if got.Outcome != fsm.Applied || got.Made != want {
		f.fatal("", "%s, %+v, want Applied, %+v", got.Outcome, got.Made, want)
	}
}

// twoCreations lets a creation meet that of the same row: it must wait, and then
// say that the row is there.
func (e *engine) twoCreations(t *testing.T) {
	t.Helper()
	f := &firing{e: e, t: t, label: e.m.Name + ", two creations"}
	var err error
	if f.row, err = e.newKey(t.Context()); err != nil {
		f.fatal("", "%v", err)
	}
	create := func(ctx context.Context, on fsm.DB) (Answer, error) {
		return e.m.Create(e.call(ctx, on, f.giving(nil), nil))
	}
	got := e.meet(t, f.label, func(tx pgx.Tx) error { _, err := create(t.Context(), tx); return err }, create, func() {})
	if got.Outcome != fsm.Replayed {
		f.fatal("", "%s, want %s", got.Outcome, fsm.Replayed)
	}
	if n := len(f.look(f.row).History); n != 1 {
		f.fatal("", "%d entries of history, want 1", n)
	}
}
