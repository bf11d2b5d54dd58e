package fsmtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Create creates a row, again, and again with other values, and reads it.
func Create(t *testing.T, m *Machine) {
	t.Parallel()
	e := open(t, m)
	ctx := t.Context()
	for _, c := range e.created() {
		if _, err := given(nil, c.column()); err != nil {
			untested(t, err.Error())
		}
	}
	r, err := e.newKey(ctx)
	f := &firing{e: e, t: t, label: m.Name + ", creation", row: r}
	if err != nil {
		f.fatal("", "%v", err)
	}
	if _, err := m.Get(e.call(ctx, nil, e.keyList(r), nil)); !errors.Is(err, fsm.ErrNotFound) {
		f.fatal("before it", "Get ends with %v, want %v", err, fsm.ErrNotFound)
	}
	if _, err := e.newRow(ctx, seed{state: m.Initial, event: createEvent}); err != nil {
		f.fatal("make another row", "%v", err)
	}
	f.createInside(fsm.Applied)
	f.create("", fsm.Applied, nil)
	f.createInside(fsm.Replayed)
	f.create("again", fsm.Replayed, nil)
	for _, c := range e.created() {
		if c.Set || c.Value == "" {
			continue
		}
		for _, other := range others(c.Type, "", c.Value)[:1] {
			f.create("again with another "+c.Name, fsm.Mismatched, Values{c.Name: other})
		}
	}
	got, err := m.Get(e.call(ctx, nil, e.keyList(r), nil))
	want, wantErr := e.typedRow(ctx, r)
	if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
		f.fatal("", "Get answers with another row than there is, error %v (- want, + got)\n  - %s\n  + %s", errors.Join(err, wantErr), text(want), text(got))
	}
	e.twoCreations(t)
}

// created are the columns that a creator gives, in order.
func (e *engine) created() []creation {
	var list []creation
	for _, c := range e.m.Columns {
		if c.Given {
			list = append(list, creation{c})
		}
	}
	return list
}

type creation struct{ Column }

// column is the column as a creator gives it: one with a default may be left out.
func (c creation) column() Column {
	p := c.Column
	p.Optional = p.Optional || p.Default != ""
	if p.Default != "" {
		p.Value = ""
	}
	return p
}

// giving is the list of a creation's values for Go to read.
func (f *firing) giving(values Values) []string {
	f.t.Helper()
	list := f.e.keyList(f.row)
	for _, c := range f.e.created() {
		v, err := given(values, c.column())
		if err != nil {
			f.fatal("", "%v", err)
		}
		list = append(list, asGo(v, c.Column, false))
	}
	return list
}

// createInside makes the call in a transaction, by the server's clock.
func (f *firing) createInside(want fsm.Outcome) {
	f.t.Helper()
	f.e.within(f.t, func(ctx context.Context, tx pgx.Tx, now time.Time) {
		before, err := f.e.look(ctx, tx, f.row)
		if err != nil {
			f.fatal(insideStep, "look at the row: %v", err)
		}
		must := before.clone()
		if want == fsm.Applied {
			if must, err = f.e.born(ctx, f.row, nil, now); err != nil {
				f.fatal(insideStep, "ask what must be: %v", err)
			}
		}
		got, err := f.e.m.Create(f.e.call(ctx, tx, f.giving(nil), []fsm.Option{serverClock}))
		f.insideAnswer(ctx, tx, want, got, err, before, must)
	})
}

// create makes the call and compares what it says and leaves.
func (f *firing) create(step string, want fsm.Outcome, values Values) {
	f.t.Helper()
	e, m, ctx := f.e, f.e.m, f.t.Context()
	before := f.look(f.row)
	got, err := m.Create(e.call(ctx, nil, f.giving(values), nil))
	if err != nil {
		f.fatal(step, "%v, want %s", err, want)
	}
	must := before.clone()
	if want == fsm.Applied {
		if must, err = e.born(ctx, f.row, values, clock); err != nil {
			f.fatal(step, "ask what must be: %v", err)
		}
	}
	f.compare(step, judged{outcome: want}, fsm.Transition[string]{Event: createEvent, Outcome: fsm.Applied, To: m.Initial, Version: 1}, got, before, must)
}

// born is the snapshot that a creation must leave. Columns that nobody gave
// have their default, or are empty.
func (e *engine) born(ctx context.Context, r *row, values Values, at time.Time) (snapshot, error) {
	m := e.m
	var all, params []string
	for i, k := range m.Key {
		all = append(all, r.key[i]+" AS "+quoted(k.Name))
	}
	for _, c := range m.Columns {
		value := typed("NULL", c.Type)
		if c.Given {
			given, err := given(values, creation{c}.column())
			if err != nil {
				return snapshot{}, err
			}
			value = given
			params = append(params, value+" AS "+quoted(c.Name))
		}
		if c.Default != "" {
			value = "COALESCE(" + value + ", " + typed(c.Default, c.Type) + ")"
		}
		all = append(all, value+" AS "+quoted(c.Name))
	}
	after, told := snapshot{}, told{Params: map[string]any{}}
	if err := e.record(ctx, all, at, &after.Row); err != nil {
		return after, err
	}
	if err := e.record(ctx, params, at, &told.Params); err != nil {
		return after, err
	}
	e.enter(after, m.Initial, at)
	after.Row[m.Version] = number(1)
	after.History = []record{{
		"version": number(1), "event": createEvent, "from_status": nil, "to_status": m.Initial,
		"actor": actor, "reason": reason, "request_id": request, "forced": false, "at": stamp(at),
	}}
	for _, topic := range m.CreateEmit {
		after.Outbox = append(after.Outbox, e.emitted(r, createEvent, topic, 1, nil, m.Initial, told, at))
	}
	return after, nil
}

// record is the JSON object that PostgreSQL makes of a list of columns.
func (e *engine) record(ctx context.Context, columns []string, at time.Time, into any) error {
	query := fmt.Sprintf("SELECT to_jsonb(x) FROM (SELECT %s FROM (SELECT %s::timestamptz AS now) AS c) AS x", strings.Join(columns, ", "), literal(stamp(at)))
	return decode(e.pool.QueryRow(ctx, query, once), into)
}
