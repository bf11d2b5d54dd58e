package fsmtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Table writes to the machine's tables past its calls, and sees that they refuse
// what no call may do: edges that the machine has not, versions that are left
// out, births in other states, records without an author, and values that a
// check refuses. All of it is rolled back.
//
// It does not run beside others, since it holds whole tables: it comes before them.
func Table(t *testing.T, m *Machine) {
	e := open(t, m)
	if why := e.unknown(); why != "" {
		untested(t, why)
	}
	ctx := t.Context()
	tx, err := e.pool.Begin(ctx)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	w := &writing{e: e, ctx: ctx, tx: tx}
	for _, part := range []struct {
		name string
		does func(*writing)
	}{
		{"births", (*writing).births}, {"edges", (*writing).edges}, {"corrections", (*writing).corrections},
		{"columns", (*writing).columns}, {"history", (*writing).history}, {"facts", (*writing).facts},
		{"outbox", (*writing).outbox}, {"audit", (*writing).audit}, {"deletion", (*writing).deletion},
		{"swallowed", (*writing).swallowed}, {"strange", (*writing).strange},
	} {
		t.Run(part.name, func(t *testing.T) {
			w.t = t
			part.does(w)
		})
	}
}

// writing is a transaction in which statements are tried, each by itself.
type writing struct {
	e   *engine
	t   *testing.T
	ctx context.Context
	tx  pgx.Tx
}

// SQLSTATEs of what a table refuses.
const (
	nullRefused  = "23502"
	twiceRefused = "23505"
	checkRefused = "23514"
)

// tried runs statements in a savepoint, and returns the error of the last one; an
// error of those before it fails the test.
func (w *writing) tried(statements ...string) *pgconn.PgError {
	w.t.Helper()
	savepoint, err := w.tx.Begin(w.ctx)
	if err != nil {
		w.t.Fatalf("savepoint: %v", err)
	}
	defer func() {
		if err := savepoint.Rollback(w.ctx); err != nil {
			w.t.Fatalf("roll back to the savepoint: %v", err)
		}
	}()
	for i, sql := range statements {
		if _, err = savepoint.Exec(w.ctx, sql); err != nil && i < len(statements)-1 {
			w.t.Fatalf("%s: %v", sql, err)
		}
	}
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) {
		w.t.Fatalf("%s: %v", statements[len(statements)-1], err)
	}
	return refused
}

// must sees that the last statement is refused with the SQLSTATE, or goes
// through for an empty one.
func (w *writing) must(code string, statements ...string) {
	w.t.Helper()
	got := ""
	err := w.tried(statements...)
	if err != nil {
		got = err.Code
	}
	if got != code {
		w.t.Fatalf("%s\nis refused with %q, want %q: %v", strings.Join(statements, "\n"), got, code, err)
	}
}

// mustBy is must, and says which rule of the table is to refuse.
func (w *writing) mustBy(rule string, statements ...string) {
	w.t.Helper()
	if err := w.tried(statements...); err == nil || err.Code != checkRefused || err.ConstraintName != rule || err.TableName != w.e.m.Table {
		w.t.Fatalf("%s\nends with %v, want that %s refuses it", strings.Join(statements, "\n"), err, rule)
	}
}

// row makes a row in the state, for as long as the transaction.
func (w *writing) row(state string) *row {
	w.t.Helper()
	r, err := w.e.newRowOn(w.ctx, w.tx, seed{state: state, event: seedEvent})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// update is an UPDATE of the row.
func (w *writing) update(r *row, set ...string) string {
	return "UPDATE " + quoted(w.e.m.Table) + " AS o SET " + strings.Join(set, ", ") + " WHERE " + w.e.where(r, "o")
}

func (w *writing) setStatus(state string) string {
	return quoted(w.e.m.Status) + " = " + typed(literal(w.e.state(state).Stored[0]), w.e.statusType())
}

func (w *writing) setVersion(by int) string {
	return fmt.Sprintf("%s = %d", quoted(w.e.m.Version), seedVersion+by)
}

// setKey gives the row the key of another one.
func (w *writing) setKey(to *row) string {
	set := make([]string, len(w.e.m.Key))
	for i, k := range w.e.m.Key {
		set[i] = quoted(k.Name) + " = " + to.key[i]
	}
	return strings.Join(set, ", ")
}

// newKey is the key of no row.
func (w *writing) newKey() *row {
	w.t.Helper()
	r, err := w.e.newKey(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// edge reports whether a transition leads from one state to another.
func (m *Machine) edge(from, to string) bool {
	for _, event := range m.Events {
		for _, t := range event.Transitions {
			if t.To == to && slices.Contains(t.From, from) {
				return true
			}
		}
	}
	return false
}
