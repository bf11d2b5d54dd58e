package fsmtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Races fires every pair of events that both write in one state from two
// sessions at once: the second call starts when the first is done and not yet
// committed. It must wait, and then be judged by the row that the first left, or
// by the old one when the first is rolled back. The tests are named
// STATE/FIRST_then_SECOND.
func Races(t *testing.T, m *Machine) {
	t.Parallel()
	e := open(t, m)
	for _, s := range m.States {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, r := range m.Races {
				if r.In == s.Name {
					e.race(t, r)
				}
			}
		})
	}
}

func (e *engine) race(t *testing.T, r Race) {
	first, second := r.First, r.Second
	t.Run(first.Event+"_then_"+second.Event, func(t *testing.T) {
		t.Parallel()
		if r.Skip != "" {
			t.Skipf("no values are known: %s", r.Skip)
		}
		e.turn(t, first.Event, second.Event)
		o := overlap{e: e, t: t, race: r}
		o.run("committed", true)
		o.run("rolled back", false)
		o.version = true
		o.run("committed, with the version of before", true)
		o.version = false
		if event := e.event(first.Event); first.Event == second.Event && len(event.Identity) > 0 {
			o.elsewhere = true
			o.run("of another row, committed", true)
			o.run("of another row, rolled back", false)
		}
	})
}

// overlap is one pair of calls whose transactions overlap.
type overlap struct {
	e    *engine
	t    *testing.T
	race Race
	// version has the second call expect the version that the row had before the
	// first. elsewhere has it bring the first call's fact to another row.
	version, elsewhere bool
}

func (o overlap) firing(call RaceCall, step string) *firing {
	return &firing{
		e: o.e, t: o.t, state: o.race.In, given: o.race.Given, event: o.e.event(call.Event), values: call.Params,
		label: o.e.m.Name + " " + o.race.In + " × " + o.race.First.Event + " and " + o.race.Second.Event + " at once, the first " + step,
	}
}

// run makes the two calls and ends the first with a commit or a rollback while
// the second waits for it.
func (o overlap) run(step string, commit bool) {
	t := o.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, b := o.firing(o.race.First, step), o.firing(o.race.Second, step)
	a.row = a.newRow()
	b.row = a.row
	if o.elsewhere {
		b.row = b.newRow()
	}
	defer a.forget()
	defer b.forget()
	held, err := o.e.pool.Begin(ctx)
	if err != nil {
		b.fatal("", "begin: %v", err)
	}
	defer func() { _ = held.Rollback(context.WithoutCancel(ctx)) }()
	old := o.meant(ctx, b, o.e.pool)
	if got, err := o.e.fire(ctx, held, a.event, a.row, a.values, a.any()...); err != nil || got.Outcome != fsm.Applied && got.Outcome != fsm.Compensated {
		b.fatal("the first call", "%s, error %v: it should have written", got.Outcome, err)
	}
	o.e.referred(a)
	want := old
	if commit {
		want = o.meant(ctx, b, held)
	}
	got := o.waiting(ctx, b, held, old)
	if commit {
		err = held.Commit(ctx)
	} else {
		err = held.Rollback(ctx)
	}
	if err != nil {
		b.fatal("", "end the first call: %v", err)
	}
	said := <-got
	if said.err != nil {
		b.fatal("the second call", "%v, want %s", said.err, want.j.outcome)
	}
	b.after(want, said.Answer)
}

// referred sees that rows which refer to the one that another session holds can
// be made all the while: they need its key alone.
func (e *engine) referred(f *firing) {
	f.t.Helper()
	sql := "SELECT FROM " + quoted(e.m.Table) + " AS o WHERE " + e.where(f.row, "o") + " FOR KEY SHARE NOWAIT"
	if _, err := e.pool.Exec(f.t.Context(), sql); err != nil {
		f.fatal("the first call", "it holds the row against rows that refer to it: %v", err)
	}
}

// meant is what the second call must do at the row as q sees it.
type meant struct {
	j    judged
	made fsm.Transition[string]
	must snapshot
}

func (o overlap) meant(ctx context.Context, b *firing, q querier) meant {
	b.t.Helper()
	e := o.e
	seen, err := e.look(ctx, q, b.row)
	if err != nil {
		b.fatal("", "look at the row: %v", err)
	}
	j, known, err := e.known(ctx, q, b.row, b.shot())
	if err == nil && !known {
		j, err = e.judge(ctx, q, b.row, seen, b.shot())
	}
	if err == nil && o.version && j.outcome == fsm.Applied && versionOf(seen, e.m) != seedVersion {
		j = judged{outcome: fsm.Stale}
	}
	if err != nil {
		b.fatal("", "ask the guards: %v", err)
	}
	must, err := e.expect(ctx, q, b.row, seen, b.shot(), j)
	if err != nil {
		b.fatal("", "ask what must be: %v", err)
	}
	m := meant{j: j, must: must, made: made(b.event.Name, j, seen)}
	if known && j.outcome == fsm.Mismatched && o.elsewhere {
		m.made = fsm.Transition[string]{}
	}
	return m
}

type said struct {
	Answer
	err error
}

// waiting starts the second call in a session of its own and returns once it
// waits for the first, or once it has ended where nothing is to be waited for.
func (o overlap) waiting(ctx context.Context, b *firing, held pgx.Tx, old meant) <-chan said {
	b.t.Helper()
	conn, err := o.e.pool.Acquire(ctx)
	if err != nil {
		b.fatal("", "another session: %v", err)
	}
	options := b.any()
	if o.version {
		options = []fsm.Option{fsm.ExpectVersion(seedVersion)}
	}
	done, pid := make(chan said, 1), conn.Conn().PgConn().PID() // of a connection that may be given back soon
	go func() {
		defer conn.Release()
		a, err := o.e.fire(ctx, conn, b.event, b.row, b.values, options...)
		done <- said{a, err}
	}()
	if old.j.outcome != fsm.Applied && old.j.outcome != fsm.Compensated {
		select {
		case a := <-done: // it has nothing to write, so it waits for nobody
			done <- a
			return done
		case <-ctx.Done():
			b.fatal("the second call", "it waits for the first and has nothing to write")
		}
	}
	o.e.awaitBlocked(ctx, o.t, b.label+", the second call", held.Conn().PgConn().PID(), pid, done)
	return done
}

// after compares what the second call said and left.
func (f *firing) after(want meant, got Answer) {
	f.t.Helper()
	must := want.must
	after := f.look(f.row)
	if got.Outcome != want.j.outcome {
		f.fatal("the second call", "outcome %s, want %s%s", got.Outcome, want.j.outcome, difference(must, after))
	}
	f.e.leave(snapshot{}, must, after)
	if d := difference(must, after); d != "" {
		f.fatal("the second call", "%s, and left other than it must (- want, + got)%s", got.Outcome, d)
	}
	f.answer("the second call", want.j, want.made, got, after)
}

// known reports whether the call's identity is a fact already, and what is then
// said.
func (e *engine) known(ctx context.Context, q querier, r *row, s shot) (judged, bool, error) {
	if len(s.event.Identity) == 0 {
		return judged{}, false, nil
	}
	t, err := e.told(ctx, q, r, s)
	if err != nil {
		return judged{}, false, err
	}
	var known, here, same bool
	err = q.QueryRow(ctx, "SELECT count(*) > 0, COALESCE(bool_or("+e.where(r, "x")+"), false), COALESCE(bool_or(x.fingerprint = $3), false) FROM "+
		quoted(e.m.Facts)+" AS x WHERE x.event = $1 AND x.identity = $2", s.event.Name, t.Identity, t.Fingerprint).Scan(&known, &here, &same)
	if here && same {
		return judged{outcome: fsm.Replayed}, known, err
	}
	return judged{outcome: fsm.Mismatched}, known, err
}
