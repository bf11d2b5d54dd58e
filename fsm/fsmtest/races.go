package fsmtest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Races fires every pair of events that both write in one state from two
// sessions at once: the second call starts when the first is done and not yet
// committed. It must wait, and then be judged by the row that the first left, or
// by the old one when the first is rolled back. The tests are named
// STATE/FIRST_then_SECOND, and STATE/FIRST_then_SECOND/VARIANT, also those in which
// the second one compensates behind a first that moves the row; those of one fact
// that compensates and is told twice at once STATE/EVENT_told_twice.
func Races(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).allRaces(t)
}

func (e *engine) allRaces(t *testing.T) {
	m := e.m
	for _, s := range m.States {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, first := range m.Events {
				for _, second := range m.Events {
					races := slices.DeleteFunc(slices.Clone(m.Races), func(r Race) bool {
						return r.In != s.Name || r.First.Event != first.Name || r.Second.Event != second.Name
					})
					if len(races) > 0 {
						t.Run(first.Name+"_then_"+second.Name, func(t *testing.T) { e.races(t, races) })
					}
				}
			}
			e.behind(t, s.Name)
			e.toldTwice(t, s.Name)
		})
	}
}

// races runs the races of one ordered pair.
func (e *engine) races(t *testing.T, races []Race) {
	t.Parallel()
	for _, r := range races {
		if len(races) == 1 && r.Variant == "" {
			e.race(t, r)
			return
		}
		t.Run(r.Variant, func(t *testing.T) {
			t.Parallel()
			e.race(t, r)
		})
	}
}

func (e *engine) race(t *testing.T, r Race) {
	t.Helper()
	defer e.turn(r.First.Event, r.Second.Event)()
	if r.Skip != "" || len(r.Unsure) > 0 || e.checked(e.event(r.Second.Event)) {
		r = e.settledRace(t.Context(), r)
	}
	if r.Skip != "" {
		untested(t, r.Skip)
	}
	o := overlap{e: e, t: t, race: r}
	o.run("committed", true)
	o.run("rolled back", false)
	o.version = true
	o.run("committed, with the version of before", true)
	o.version = false
	if r.First.Event != r.Second.Event || !e.sameFact(r) {
		return
	}
	o.elsewhere = true
	o.run("of another row, committed", true)
	o.run("of another row, rolled back", false)
}

// checked reports whether a CHECK reads what an event sets. The values of a race
// suit its second call after the first, and not always without it.
func (e *engine) checked(event *Event) bool {
	for _, t := range event.Transitions {
		for _, a := range t.Set {
			if slices.ContainsFunc(e.m.Columns, func(c Column) bool { return reads(c.Check, "o", a.Column) }) {
				return true
			}
		}
	}
	return false
}

// sameFact reports whether the two calls bring the same fact.
func (e *engine) sameFact(r Race) bool {
	event := e.event(r.First.Event)
	return len(event.Identity) > 0 && !slices.ContainsFunc(event.Identity, func(p string) bool { return r.First.Params[p] != r.Second.Params[p] })
}

// overlap is one pair of calls whose transactions overlap.
type overlap struct {
	e    *engine
	t    *testing.T
	race Race
	// version has the second call expect the version that the row had before the
	// first. elsewhere has it bring the first call's fact to another row.
	version, elsewhere bool
	// wrong has it expect a version that the row never had, which is nothing to a
	// call that compensates.
	wrong bool
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
	defer a.forget()
	defer b.forget()
	a.row = a.newRow()
	b.row = a.row
	if o.elsewhere {
		b.row = b.newRow()
	}
	held, err := o.e.pool.Begin(ctx)
	if err != nil {
		b.fatal("", "begin: %v", err)
	}
	defer func() { _ = held.Rollback(context.WithoutCancel(ctx)) }()
	old := o.meant(ctx, b, o.e.pool)
	row, err := o.e.typedRow(ctx, b.row)
	if err != nil {
		b.fatal("", "read the row: %v", err)
	}
	if got, err := o.e.fire(ctx, held, a.event, a.row, a.values, a.any()...); err != nil || got.Outcome != fsm.Applied && got.Outcome != fsm.Compensated {
		b.fatal("the first call", "%s, error %v: it should have written", got.Outcome, err)
	}
	o.e.referred(a)
	want := old
	if commit {
		want = o.meant(ctx, b, held)
		if o.race.Outcome != "" && !o.version && !o.elsewhere && want.j.outcome != o.race.Outcome {
			b.fatal("the second call", "the case says %s, the guards %s", o.race.Outcome, want.j.outcome)
		}
		if !old.writes() { // it waits for nobody, and says what was true when it came
			want = meant{j: old.j, made: old.made, must: want.seen, row: row, state: old.state, version: old.version}
		}
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

// meant is what the second call must say and leave.
type meant struct {
	j          judged
	made       fsm.Transition[string]
	seen, must snapshot
	// row is what the answer tells where that is not what is left.
	row     any
	state   string
	version int64
}

func (m meant) writes() bool {
	return m.j.outcome == fsm.Applied || m.j.outcome == fsm.Compensated
}

// meant judges the second call by the row as q sees it.
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
	if err == nil && (o.version || b.event.NeedsVersion) && j.outcome == fsm.Applied && versionOf(seen, e.m) != seedVersion {
		j = judged{outcome: fsm.Stale}
	}
	if err != nil {
		b.fatal("", "ask the guards: %v", err)
	}
	must, err := e.expect(ctx, q, b.row, seen, b.shot(), j)
	if err != nil {
		b.fatal("", "ask what must be: %v", err)
	}
	m := meant{j: j, seen: seen, must: must, made: made(b.event.Name, j, seen), version: versionOf(seen, e.m)}
	m.state, _ = seen.Row[e.m.Status].(string)
	if known && j.outcome == fsm.Mismatched && o.elsewhere {
		m.made = fsm.Transition[string]{}
	}
	return m
}

func (o overlap) options(b *firing) []fsm.Option {
	if o.wrong {
		return []fsm.Option{fsm.ExpectVersion(seedVersion + 7)}
	}
	if o.version {
		return []fsm.Option{fsm.ExpectVersion(seedVersion)}
	}
	return b.any()
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
	options := o.options(b)
	done, pid := make(chan said, 1), conn.Conn().PgConn().PID() // of a connection that may be given back soon
	go func() {
		defer conn.Release()
		a, err := o.e.fire(ctx, conn, b.event, b.row, b.values, options...)
		done <- said{a, err}
	}()
	if !old.writes() {
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
	if want.row == nil {
		f.answer("the second call", want.j, want.made, got, after)
		return
	}
	if !reflect.DeepEqual(got.Row, want.row) || got.Made != want.made || got.State != want.state || got.Version != want.version {
		f.fatal("the second call", "%s, of which nothing is written, answers with another row than there was when it came (- want, + got)\n  - %s %+v\n  + %s %+v",
			got.Outcome, text(want.row), want.made, text(got.Row), got.Made)
	}
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
