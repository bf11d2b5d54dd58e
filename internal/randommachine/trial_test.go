package randommachine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/randommachine"
)

// errOpen says that PostgreSQL and the judge of expressions need not agree: one of them
// fails, and PostgreSQL may work a condition out in another order. A trial ends there.
var errOpen = errors.New("left open")

// trial does steps to a machine's rows, and holds each against the oracle.
type trial struct {
	ledger
	conn  *pgx.Conn
	world oracle.World
	judge *evaluate.Judge
	keys  [][]string
	now   time.Time
	seen  tally
}

// tally counts what was tried.
type tally struct {
	machines, refused, calls, open int
	outcomes                       map[string]int
	codes                          map[string]int
}

func newTally() tally { return tally{outcomes: map[string]int{}, codes: map[string]int{}} }

func (t *tally) add(o tally) {
	t.machines += o.machines
	t.refused += o.refused
	t.calls += o.calls
	t.open += o.open
	for k, n := range o.outcomes {
		t.outcomes[k] += n
	}
	for k, n := range o.codes {
		t.codes[k] += n
	}
}

// many are enough machines for a share of them to mean something: lint refuses some 22
// in 100, which in a few may be 12 of 32.
const many = 200

// worthwhile is an error where most of the work was for nothing: of many definitions
// lint refused more than a third, or more than a twentieth of the machines was left open.
func (t *tally) worthwhile() error {
	switch {
	case t.machines < many:
		return nil
	case t.refused*3 >= t.machines+t.refused:
		return fmt.Errorf("lint refuses more than a third: %d of %d, %v", t.refused, t.machines+t.refused, t.codes)
	case t.open*20 >= t.machines:
		return fmt.Errorf("more than a twentieth of the machines were left open: %d of %d", t.open, t.machines)
	}
	return nil
}

// Shares of a few machines are chance, and no reason to refuse a run.
func TestSharesAreJudgedOfManyMachinesAlone(t *testing.T) {
	t.Parallel()
	for _, few := range []tally{{machines: 20, refused: 12}, {machines: 199, refused: 150}, {machines: 20, open: 2}, {machines: 200, refused: 99, open: 9}} {
		require.NoError(t, few.worthwhile(), few)
	}
	require.ErrorContains(t, (&tally{machines: 200, refused: 100}).worthwhile(), "lint refuses more than a third: 100 of 300")
	require.ErrorContains(t, (&tally{machines: 200, refused: 99, open: 10}).worthwhile(), "more than a twentieth of the machines were left open: 10 of 200")
}

func newTrial(b *built, conn *pgx.Conn, keys [][]string) *trial {
	return &trial{
		ledger: ledger{caller: caller{b}}, conn: conn, judge: evaluate.For(b.m), keys: keys,
		now: randommachine.Start, seen: newTally(),
	}
}

// run does all steps. The error is errOpen, or says what is not as it must be.
func (t *trial) run(ctx context.Context, steps []randommachine.Step) error {
	for i, s := range steps {
		if err := t.step(ctx, s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// step does one, and compares its answer and all tables.
func (t *trial) step(ctx context.Context, s randommachine.Step) error {
	t.now = t.now.Add(s.After)
	var err error
	switch s.Do {
	case randommachine.DoCreate:
		err = t.create(ctx, s)
	case randommachine.DoCall:
		err = t.call(ctx, s)
	case randommachine.DoBatch:
		err = t.batchOf(ctx, s)
	case randommachine.DoCorrect:
		err = t.correctTo(ctx, s)
	case randommachine.DoSweep:
		err = t.sweepOf(ctx, s)
	default:
		err = fmt.Errorf("there is no step %q", s.Do)
	}
	if err != nil {
		return err
	}
	got, err := t.read(ctx, t.conn)
	if err != nil {
		return err
	}
	if diff := t.expected(t.world).diff(got); diff != "" {
		return fmt.Errorf("the tables are not as they must be:\n%s", diff)
	}
	return nil
}

// key is that of a row by its number; behind the last one is a row that is not there.
func (t *trial) key(n int) []string {
	if n < len(t.keys) {
		return t.keys[n]
	}
	for _, absent := range []string{"1", "absent", "7d444840-9dc0-11d1-b245-5ffdce74fad2", "2031-05-05"} {
		key := make([]string, len(t.m.Table.Keys))
		fits := true
		for i, k := range t.m.Table.Keys {
			key[i] = absent
			if _, err := known(k.Type, &absent); err != nil {
				key[i], fits = t.keys[0][i], fits && len(key) > 1
			}
		}
		if fits && !slices.ContainsFunc(t.keys, func(k []string) bool { return t.canonical(k) == t.canonical(key) }) {
			return key
		}
	}
	return t.keys[0]
}

// version is the one that a step expects, 0 for none.
func (t *trial) version(s randommachine.Step, key []string) int64 {
	if s.Version == "" {
		return 0
	}
	r, _ := t.world.Row(t.canonical(key))
	v := max(r.Version, 1)
	if s.Version == "wrong" {
		v++
	}
	return v
}

func (t *trial) options(version int64, actor string) []fsm.Option {
	options := []fsm.Option{fsm.At(t.now), fsm.Actor(actor)}
	if version != 0 {
		options = append(options, fsm.ExpectVersion(version))
	}
	return options
}

// given reads the values of a step: as they are sent, and as the oracle knows them.
func given(s randommachine.Step, types map[string]model.Type) (values, oracle.Values, error) {
	send, know := values{}, oracle.Values{}
	for name, typ := range types {
		var err error
		if send[name], err = sent(typ, s.Values[name], false); err != nil {
			return nil, nil, err
		}
		if know[name], err = known(typ, s.Values[name]); err != nil {
			return nil, nil, err
		}
	}
	return send, know, nil
}

func paramTypes(e *model.Event) map[string]model.Type {
	types := map[string]model.Type{}
	for _, p := range e.Params {
		types[p.Name] = p.Type
	}
	return types
}

// call makes a call of an event.
func (t *trial) call(ctx context.Context, s randommachine.Step) error {
	e := t.m.Event(s.Event)
	key := t.key(s.Row)
	send, know, err := given(s, paramTypes(e))
	if err != nil {
		return err
	}
	version := t.version(s, key)
	got, failed := t.fire(ctx, t.conn, e, key, send, t.options(version, "somebody")...)
	return t.judged(e, t.canonical(key), know, version, got, failed, "somebody")
}

// early reports whether a call is refused before any SQL.
func early(e *model.Event, params oracle.Values, version int64) bool {
	if e.ExpectVersion && version == 0 {
		return true
	}
	for _, p := range slices.Concat(e.Identity, e.Fingerprint) {
		if params[p.Name] == "" {
			return true
		}
	}
	return false
}

// judged holds the answer of a call against the oracle's, and takes its world.
func (t *trial) judged(e *model.Event, key string, params oracle.Values, version int64, got result, failed error, actor string) error {
	if early(e, params, version) {
		return t.same(oracle.Answer{Outcome: oracle.BadArgument}, nil, got, failed)
	}
	next, want, err := t.world.Call(t.m, t.judge, oracle.Call{Event: e, Key: key, Params: params, Version: version, Now: t.now})
	if err == nil && t.planned(e, key, params, failed) {
		t.seen.calls++
		t.seen.outcomes["failed when planned"]++
		return nil
	}
	if err := t.same(want, err, got, failed); err != nil {
		return fmt.Errorf("%s of %q with %v, version %d: %w", e.Name, key, params, version, err)
	}
	if err == nil {
		t.world = next
		t.entry(key, e.Name, want, e, params, actor, t.now)
	}
	return nil
}

// planned reports whether a call failed by an expression of the event that its row did
// not come to. PostgreSQL works out what is made of parameters and constants alone when
// it plans a statement for its arguments, whichever cell it stands in.
func (t *trial) planned(e *model.Event, key string, params oracle.Values, failed error) bool {
	var pg *pgconn.PgError
	if !errors.As(failed, &pg) || !strings.HasPrefix(pg.Code, "22") {
		return false
	}
	row, _ := t.world.Row(key)
	in := oracle.Context{Row: row.Columns, Params: params, Now: t.now}
	fails := func(err error) bool {
		var failure *evaluate.Failure
		return errors.As(err, &failure) && failure.State == pg.Code
	}
	return slices.ContainsFunc(t.m.Transitions, func(tr *model.Transition) bool {
		if tr.Event != e {
			return false
		}
		if tr.Guard != nil {
			if _, _, err := t.judge.Holds(tr.Guard.SQL, in); fails(err) {
				return true
			}
		}
		return slices.ContainsFunc(tr.Set, func(a model.Assignment) bool {
			_, err := t.judge.Value(a.Value, in)
			return fails(err)
		})
	})
}

// same compares an answer with the one that it must be; open is the judge's error.
func (t *trial) same(want oracle.Answer, open error, got result, failed error) error {
	t.seen.calls++
	state := ""
	var pg *pgconn.PgError
	if errors.As(failed, &pg) {
		state = pg.Code
	}
	var failure *evaluate.Failure
	switch {
	case errors.As(open, &failure):
		if state != failure.State {
			if failed != nil && !strings.HasPrefix(state, "22") {
				return failed
			}
			return fmt.Errorf("%w: %w, and the answer is %v %v", errOpen, failure, got.Outcome, failed)
		}
		t.seen.outcomes["failed with "+state]++
		return nil
	case open != nil:
		return fmt.Errorf("%w: %w", errOpen, open)
	}
	t.seen.outcomes[string(want.Outcome)]++
	is := string(got.Outcome)
	switch {
	case errors.Is(failed, fsm.ErrNotFound):
		is = string(oracle.NotFound)
	case errors.Is(failed, fsm.ErrArgument):
		is = string(oracle.BadArgument)
	case errors.Is(failed, fsm.ErrNothingDone) && strings.HasPrefix(state, "23"):
		is = string(oracle.CheckFailed)
	case failed != nil:
		return fmt.Errorf("the answer must be %s, and is the error %w", want.Outcome, failed)
	}
	if is != string(want.Outcome) {
		return fmt.Errorf("the answer must be %s, and is %s %v", want.Outcome, is, failed)
	}
	if failed != nil {
		return nil
	}
	made := oracle.Transition{Event: got.Transition.Event, Outcome: oracle.Outcome(got.Transition.Outcome), From: got.Transition.From, To: got.Transition.To, Version: got.Transition.Version}
	switch {
	case got.State != want.State || got.Version != want.Version:
		return fmt.Errorf("%s: the row must be in %q, version %d, and is shown in %q, version %d", is, want.State, want.Version, got.State, got.Version)
	case made != want.Made:
		return fmt.Errorf("%s: the transition must be %+v, and is %+v", is, want.Made, made)
	case !maps.EqualFunc(got.Row.columns, want.Columns, func(a, b any) bool { return reflect.DeepEqual(shownValue(a), shownValue(b)) }):
		return fmt.Errorf("%s: the columns must be %v, and are %v", is, want.Columns, got.Row.columns)
	}
	return nil
}

// create makes a creation. What a column cannot hold must fail.
func (t *trial) create(ctx context.Context, s randommachine.Step) error {
	types := map[string]model.Type{}
	for _, c := range t.m.Created() {
		types[c.Name] = c.Type
	}
	send, know, err := given(s, types)
	if err != nil {
		return err
	}
	var open error
	for _, c := range t.m.Created() {
		held, err := evaluate.Stored(c.Type, know[c.Name])
		if err != nil {
			open = err
		}
		know[c.Name] = held
	}
	key := t.key(s.Row)
	got, failed := t.caller.create(ctx, t.conn, key, send, t.options(0, "creator")...)
	if open != nil {
		return t.same(oracle.Answer{}, open, got, failed)
	}
	for i, k := range t.m.Table.Keys {
		if know[k.Name], err = known(k.Type, &key[i]); err != nil {
			return err
		}
	}
	next, want, err := t.world.Create(t.m, t.judge, t.canonical(key), know, t.now)
	if err := t.same(want, err, got, failed); err != nil {
		return fmt.Errorf("creation of %q with %v: %w", key, know, err)
	}
	if err == nil {
		t.world = next
		t.entry(t.canonical(key), "create", want, nil, nil, "creator", t.now)
	}
	return nil
}

func (t *trial) correctTo(ctx context.Context, s randommachine.Step) error {
	key, to := t.key(s.Row), t.m.State(s.State)
	version := t.version(s, key)
	who := fsm.Correction{Actor: "support", Reason: "it was wrong"}
	got, failed := t.correct(ctx, t.conn, key, to.Name, who, t.options(version, "")...)
	next, want := t.world.Correct(t.canonical(key), to, version, t.now)
	if err := t.same(want, nil, got, failed); err != nil {
		return fmt.Errorf("correction of %q to %s: %w", key, to.Name, err)
	}
	if t.world = next; want.Outcome == oracle.Applied {
		t.corrected(t.canonical(key), want.Made, who, t.now)
	}
	return nil
}

// sweepOf sweeps all rows that are due by one page.
func (t *trial) sweepOf(ctx context.Context, s randommachine.Step) error {
	e := t.m.Event(s.Event)
	got, failed := t.sweep(ctx, t.conn, e, fsm.SweepPage{Limit: 100, Now: &t.now, Actor: "deadline"})
	next, swept, broken, err := t.world.Sweep(t.m, t.judge, e, t.now)
	if err != nil || broken {
		want := oracle.Answer{Outcome: oracle.CheckFailed}
		if failed == nil {
			return fmt.Errorf("the sweep must fail (%v), and does not: %w", err, errOpen)
		}
		return t.same(want, err, result{}, failed)
	}
	if failed != nil {
		return failed
	}
	t.seen.calls++
	t.seen.outcomes["swept"] += len(swept)
	var wanted []fsm.Swept
	for _, r := range swept {
		wanted = append(wanted, fsm.Swept{Machine: t.m.Name, Event: e.Name, Key: t.keyText(r.Key), From: r.Made.From, To: r.Made.To, Version: r.Made.Version})
		t.write(r.Key, e.Name, r.Made, true, false, r.Emits, e, nil, "deadline", t.now)
	}
	byKey := func(a, b fsm.Swept) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(got, byKey)
	slices.SortFunc(wanted, byKey)
	if !slices.Equal(got, wanted) {
		return fmt.Errorf("the sweep of %s must move %+v, and moves %+v", e.Name, wanted, got)
	}
	t.world = next
	return nil
}

// batchOf fires a batch. Its items are answered as single calls in the order in which
// the batch's statements take them: the first of each row, then the second, and so on.
func (t *trial) batchOf(ctx context.Context, s randommachine.Step) error {
	e := t.m.Event(s.Event)
	var items []item
	var params []oracle.Values
	var versions []int64
	for _, i := range s.Items {
		send, know, err := given(i, paramTypes(e))
		if err != nil {
			return err
		}
		key := t.key(i.Row)
		version := t.version(i, key)
		one := item{Key: t.canonical(key), Params: send, Actor: "batch"}
		if version != 0 {
			one.Version = &version
		}
		items, params, versions = append(items, one), append(params, know), append(versions, version)
	}
	got, failed := t.batch(ctx, t.conn, e, items, fsm.At(t.now))
	if failed != nil {
		return fmt.Errorf("batch of %s: %w", e.Name, failed)
	}
	before, of := t.world, map[string]bool{}
	asked := func(n int) bool { return !early(e, params[n], versions[n]) }
	for _, n := range rounds(items, asked) {
		if of[items[n].Key] { // the next round, which is a statement of its own
			before, of = t.world, map[string]bool{}
		}
		of[items[n].Key] = true
		err := t.judged(e, items[n].Key, params[n], versions[n], got[n].Result, got[n].Err, "batch")
		if err != nil && !errors.Is(err, errOpen) && t.quiet(before, e, items[n].Key, params[n], versions[n], got[n]) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("item %d of a batch: %w", n+1, err)
		}
	}
	return nil
}

// quiet reports whether an item may have been answered as the statement of its round
// found things: where it writes nothing, it need not have seen the fact that another
// item of the statement writes.
func (t *trial) quiet(before oracle.World, e *model.Event, key string, params oracle.Values, version int64, got batchResult) bool {
	_, want, err := before.Call(t.m, t.judge, oracle.Call{Event: e, Key: key, Params: params, Version: version, Now: t.now})
	return err == nil && !want.Wrote() && t.same(want, nil, got.Result, got.Err) == nil
}

// rounds is the order in which a batch takes its items. What is refused before any SQL
// has no place in a round, and is answered first.
func rounds(items []item, asked func(n int) bool) []int {
	byRow := map[string][]int{}
	var order []int
	for n := range items {
		if asked(n) {
			byRow[items[n].Key] = append(byRow[items[n].Key], n)
		} else {
			order = append(order, n)
		}
	}
	for round := range items {
		for n := range items {
			if list := byRow[items[n].Key]; round < len(list) && list[round] == n {
				order = append(order, n)
			}
		}
	}
	return order
}
