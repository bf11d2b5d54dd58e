package fsmtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// History reads the history of a row, and of none: whole, by pages, in the order
// of versions. It reads the row, too.
func History(t *testing.T, m *Machine) {
	t.Parallel()
	e := open(t, m)
	if why := e.unknown(); why != "" {
		untested(t, why)
	}
	ctx := t.Context()
	seeded := seed{state: m.Initial, event: "own", values: Values{}, apart: true}
	for _, c := range e.m.Columns {
		if c.Optional && c.Value != "" {
			seeded.values[c.Name] = c.Value // so that the row that is read has something everywhere
		}
	}
	r, err := e.newRow(ctx, seeded)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.newRow(ctx, seeded); err != nil { // whose history is another one
		t.Fatal(err)
	}
	from, to := m.States[0], m.States[len(m.States)-1]
	at := time.Date(2002, 2, 2, 2, 2, 2, 0, time.UTC)
	want := []fsm.Entry[string]{
		{Version: 1, Event: createEvent, To: m.Initial}, {Version: 2, Event: "own", From: m.Initial, To: m.Initial},
		{Version: 3, Event: seedEvent, From: m.Initial, To: m.Initial},
		{Version: 4, Event: "four", From: from.Name, To: to.Name, Actor: "a", Reason: "r", RequestID: "q", Forced: true, At: at},
		{Version: 5, Event: "five", From: to.Name, To: from.Name, Actor: "a", Reason: "r", RequestID: "q", Forced: true, At: at},
	}
	for i := range 3 {
		want[i].At = seedTime
	}
	w := &writing{e: e, t: t, ctx: ctx}
	for _, x := range []fsm.Entry[string]{want[4], want[3]} { // written in another order
		sql := w.insert(m.History, append(w.keys(r), "version", fmt.Sprint(x.Version), "event", literal(x.Event),
			"from_status", literal(e.recorded(x.From)), "to_status", literal(e.recorded(x.To)),
			"actor", "'a'", "reason", "'r'", "request_id", "'q'", "forced", "true", "at", literal(stamp(at)))...)
		if _, err := e.pool.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, page := range []struct {
		after int64
		limit int32
		want  []fsm.Entry[string]
	}{{0, 10, want}, {0, 2, want[:2]}, {2, 2, want[2:4]}, {5, 10, nil}} {
		tx := e.unsorted(t)
		got, err := m.Entries(e.call(ctx, tx, e.keyList(r), nil), page.after, page.limit)
		_ = tx.Rollback(ctx) // it has read alone
		for i := range got {
			got[i].At = got[i].At.UTC()
		}
		if err != nil || !slices.Equal(got, page.want) {
			t.Fatalf("%s, history of up to %d entries after version %d: %+v, error %v, want %+v", m.Name, page.limit, page.after, got, err, page.want)
		}
	}
	row, err := m.Get(e.call(ctx, nil, e.keyList(r), nil))
	if is, e := e.typedRow(ctx, r); err != nil || e != nil || !reflect.DeepEqual(row, is) {
		t.Fatalf("%s: Get answers with another row than there is, error %v (- want, + got)\n  - %s\n  + %s", m.Name, errors.Join(err, e), text(is), text(row))
	}
	none, err := e.newKey(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Entries(e.call(ctx, nil, e.keyList(none), nil), 0, 10); err != nil || len(got) > 0 {
		t.Fatalf("%s, history of no row: %+v, error %v", m.Name, got, err)
	}
}
