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

// twoCorrections lets a correction meet another one: it must wait, and then be
// judged by the row as the first has left it, which history and audit say too.
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
	for _, c := range []struct {
		step, to string
		outcome  fsm.Outcome
		options  []fsm.Option
	}{
		{"into a third state", open[2], fsm.Applied, nil},
		{"into the state of the first", open[1], fsm.Ignored, nil},
		{"with the version of before", open[2], fsm.Stale, []fsm.Option{fsm.ExpectVersion(seedVersion)}},
	} {
		f := &firing{e: e, t: t, label: e.m.Name + ", two corrections, the second " + c.step, state: open[0], event: &Event{Name: correctEvent}}
		f.row = f.newRow()
		correct := func(ctx context.Context, on fsm.DB, to string, options []fsm.Option) (Answer, error) {
			k := e.call(ctx, on, e.keyList(f.row), options)
			k.To = to
			return e.m.Correct(k)
		}
		got := e.meet(t, f.label,
			func(tx pgx.Tx) error { _, err := correct(t.Context(), tx, open[1], nil); return err },
			func(ctx context.Context, on fsm.DB) (Answer, error) { return correct(ctx, on, c.to, c.options) },
			func() { e.referred(f) })
		f.correctedTwice(got, c.outcome, open[1], c.to)
	}
}

// correctedTwice compares what the second of two corrections said and left.
func (f *firing) correctedTwice(got Answer, outcome fsm.Outcome, between, to string) {
	f.t.Helper()
	var made fsm.Transition[string]
	version, state := int64(seedVersion+1), between
	if outcome == fsm.Applied {
		version, state = seedVersion+2, to
		made = fsm.Transition[string]{Event: correctEvent, Outcome: fsm.Applied, From: between, To: to, Version: version}
	}
	if got.Outcome != outcome || got.Made != made || got.State != state || got.Version != version {
		f.fatal("", "%s, %s, version %d, %+v, want %s, %s, version %d, %+v", got.Outcome, got.State, got.Version, got.Made, outcome, state, version, made)
	}
	if outcome != fsm.Applied {
		return
	}
	after := f.look(f.row)
	for _, list := range [][]record{after.History, after.Audit} {
		if n := len(list); n == 0 || list[n-1]["from_status"] != between || list[n-1]["to_status"] != to {
			f.fatal("", "the last entry of history or audit is not from %s to %s: %v", between, to, list)
		}
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
