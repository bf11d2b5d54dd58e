package fsmtest

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// swallowed sees that a call whose UPDATE a trigger swallows fails, and leaves
// nothing: no history of what did not happen, and no message.
func (w *writing) swallowed() {
	m := w.e.m
	w.always("CREATE FUNCTION fsmtest_swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$")
	w.always("CREATE TRIGGER aaa_fsmtest_swallow BEFORE UPDATE ON " + quoted(m.Table) + " FOR EACH ROW EXECUTE FUNCTION fsmtest_swallow()")
	for _, event := range m.Events {
		for _, c := range m.Cases {
			if c.Event == event.Name && c.Outcome == fsm.Applied && c.Skip == "" {
				w.fails(c, c.In[0], fsm.ErrNothingDone)
				break
			}
		}
	}
	for i, sweep := range m.Sweeps {
		w.sweepFails(w.e.event(m.Deadlines[i]), sweep)
	}
	w.correctionFails()
	w.always("DROP TRIGGER aaa_fsmtest_swallow ON " + quoted(m.Table))
}

// always runs a statement that belongs to the test itself.
func (w *writing) always(sql string) {
	w.t.Helper()
	if _, err := w.tx.Exec(w.ctx, sql); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// inSavepoint runs do in a savepoint that is rolled back.
func (w *writing) inSavepoint(do func(pgx.Tx)) {
	w.t.Helper()
	savepoint, err := w.tx.Begin(w.ctx)
	if err != nil {
		w.t.Fatalf("savepoint: %v", err)
	}
	do(savepoint)
	if err := savepoint.Rollback(context.WithoutCancel(w.ctx)); err != nil {
		w.t.Fatalf("roll back to the savepoint: %v", err)
	}
}

// fails makes the call of a case, which must end in an error.
func (w *writing) fails(c Case, state string, want error) {
	w.t.Helper()
	r, err := w.e.newRowOn(w.ctx, w.tx, seed{state: state, event: c.Event, values: c.Given})
	if err != nil {
		w.t.Fatal(err)
	}
	w.inSavepoint(func(tx pgx.Tx) {
		var options []fsm.Option
		event := w.e.event(c.Event)
		if event.NeedsVersion {
			options = append(options, fsm.ExpectVersion(seedVersion))
		}
		if got, err := w.e.fire(w.ctx, tx, event, r, c.Params, options...); !errors.Is(err, want) {
			w.t.Fatalf("%s × %s, which a trigger swallows: %s and the error %v, want %v", state, c.Event, got.Outcome, err, want)
		}
	})
}

// sweepFails runs a sweep over a row that is due and cannot be moved.
func (w *writing) sweepFails(event *Event, sweep fsm.Sweep) {
	w.t.Helper()
	for _, c := range w.e.m.Cases {
		s := w.e.state(c.In[0])
		if c.Event != event.Name || c.Outcome != fsm.Applied || c.Skip != "" || s.Event != event.Name {
			continue
		}
		if _, err := w.e.newRowOn(w.ctx, w.tx, seed{state: s.Name, event: event.Name, values: c.Given, due: typed(literal(stamp(sweepTime)), "timestamptz")}); err != nil {
			w.t.Fatal(err)
		}
		w.inSavepoint(func(tx pgx.Tx) {
			now := sweepTime
			if swept, err := sweep(w.ctx, w.e.on(tx), fsm.SweepPage{Now: &now}); !errors.Is(err, fsm.ErrNothingDone) {
				w.t.Fatalf("the sweep of %s, which a trigger swallows: %+v and the error %v, want %v", event.Name, swept, err, fsm.ErrNothingDone)
			}
		})
		return
	}
}

func (w *writing) correctionFails() {
	w.t.Helper()
	m := w.e.m
	r := w.row(m.Initial)
	for _, to := range m.States {
		if to.Retired || to.Name == m.Initial {
			continue
		}
		w.inSavepoint(func(tx pgx.Tx) {
			c := w.e.call(w.ctx, tx, w.e.keyList(r), nil)
			c.To = to.Name
			if got, err := m.Correct(c); !errors.Is(err, fsm.ErrNothingDone) {
				w.t.Fatalf("a correction, which a trigger swallows: %s and the error %v, want %v", got.Outcome, err, fsm.ErrNothingDone)
			}
		})
		return
	}
}

// strange fires every event at a row in a state that the program does not know:
// one that a newer version of it has written. Nothing may be done.
func (w *writing) strange() {
	m := w.e.m
	if m.StatusType != "text" {
		return // the column itself holds no others
	}
	rows, err := w.tx.Query(w.ctx, `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
		FROM pg_constraint AS c JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attname = $2
		WHERE c.conrelid = $1::regclass AND c.contype = 'c' AND a.attnum = ANY (c.conkey)`, quoted(m.Table), m.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	for _, sql := range append(drops, "ALTER TABLE "+quoted(m.Table)+" DISABLE TRIGGER USER") {
		w.always(sql)
	}
	for _, event := range m.Events {
		c, ok := w.e.sample(event.Name)
		if !ok {
			continue
		}
		r := w.row(m.Initial)
		w.always(w.update(r, quoted(m.Status)+" = 'no such state'"))
		for _, version := range []int64{seedVersion, seedVersion + 1} {
			w.inSavepoint(func(tx pgx.Tx) { w.unknown(tx, w.e.event(event.Name), r, c.Params, version) })
		}
	}
}

// unknown fires at a row in an unknown state: the state is told, whatever version
// the caller expects, and nothing is done.
func (w *writing) unknown(tx pgx.Tx, event *Event, r *row, values Values, version int64) {
	w.t.Helper()
	before, err := w.e.look(w.ctx, tx, r)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.e.fire(w.ctx, tx, event, r, values, fsm.ExpectVersion(version))
	var unknown *fsm.UnknownStateError
	if !errors.As(err, &unknown) || unknown.State != "no such state" {
		w.t.Fatalf("%s of a row in an unknown state, version %d expected: %s and the error %v, want that the state is unknown", event.Name, version, got.Outcome, err)
	}
	after, err := w.e.look(w.ctx, tx, r)
	if err != nil {
		w.t.Fatal(err)
	}
	if d := difference(before, after); d != "" || before.Tuple != after.Tuple {
		w.t.Fatalf("%s of a row in an unknown state wrote%s", event.Name, d)
	}
}
