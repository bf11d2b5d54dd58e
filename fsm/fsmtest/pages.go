package fsmtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// pages runs a sweep that may take one row at a time over rows that are due: the
// one due first comes first, one that another session holds is passed over, and
// what is to be skipped is skipped. All rows are like the one given, which moves.
func (e *engine) pages(t *testing.T, like *overdue, sweep fsm.Sweep, now time.Time) {
	t.Helper()
	ctx := t.Context()
	due := func(before time.Duration) *row {
		t.Helper()
		r, err := e.newRow(ctx, seed{state: like.state, event: like.event.Name, values: like.given, due: typed(literal(stamp(now.Add(-before))), "timestamptz")})
		if err != nil {
			like.fatal("page", "%v", err)
		}
		return r
	}
	second, first, third, held := due(2*time.Microsecond), due(3*time.Microsecond), due(time.Microsecond), due(4*time.Microsecond)
	tx, err := e.pool.Begin(ctx)
	if err != nil {
		like.fatal("page", "begin: %v", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "SELECT FROM "+quoted(e.m.Table)+" AS o WHERE "+e.where(held, "o")+" FOR UPDATE"); err != nil {
		like.fatal("page", "hold a row: %v", err)
	}
	take := func(step string, page fsm.SweepPage, want ...*row) {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		page.Now, page.Actor = &now, "sweep"
		befores, musts := make([]snapshot, len(want)), make([]snapshot, len(want))
		for i, r := range want {
			befores[i], musts[i] = e.sweptMust(ctx, like, r, now)
		}
		tx := e.unsorted(t)
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		got, err := sweep(ctx, e.on(tx), page)
		if err != nil {
			like.fatal(step, "%v", err)
		}
		for _, r := range want {
			e.referred(&firing{e: e, t: t, label: like.label, row: r})
		}
		if err := tx.Commit(ctx); err != nil {
			like.fatal(step, "commit: %v", err)
		}
		if keys := keysOf(got); !slices.Equal(keys, e.inOrder(t, want)) {
			like.fatal(step, "the sweep moved %q, want %q", keys, e.inOrder(t, want))
		}
		for i, r := range want {
			after := (&firing{e: e, t: t, label: like.label, row: r}).look(r)
			e.leave(befores[i], musts[i], after)
			if d := difference(musts[i], after); d != "" {
				like.fatal(step, "left other than it must (- want, + got)%s", d)
			}
		}
	}
	take("one row, and the first is held", fsm.SweepPage{Limit: 1}, first)
	take("one row after one that is skipped, and the first is held", fsm.SweepPage{Limit: 1, Skip: 1}, third)
	if err := tx.Rollback(ctx); err != nil {
		like.fatal("page", "let the row go: %v", err)
	}
	take("what is left", fsm.SweepPage{}, second, held)
	take("nothing is left", fsm.SweepPage{})
}

// sweptMust is a row that is due, as it is and as a sweep must leave it.
func (e *engine) sweptMust(ctx context.Context, like *overdue, r *row, now time.Time) (before, must snapshot) {
	before, err := e.look(ctx, e.pool, r)
	var j judged
	s := shot{event: like.event, at: now, actor: "sweep"}
	if err == nil {
		j, err = e.judge(ctx, e.pool, r, before, s)
	}
	if err == nil {
		must, err = e.expect(ctx, e.pool, r, before, s, j)
	}
	if err != nil {
		like.fatal("page", "ask what must be: %v", err)
	}
	return before, must
}

// unsorted begins a transaction in which the planner reads no index and sorts no
// join, so that rows are in order only where a statement asks for it.
func (e *engine) unsorted(t *testing.T) pgx.Tx {
	t.Helper()
	tx, err := e.pool.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_mergejoin = off")
	}
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	return tx
}

func keysOf(swept []fsm.Swept) []string {
	keys := make([]string, len(swept))
	for i, s := range swept {
		keys[i] = s.Key
	}
	return keys
}

// inOrder are the rows' keys as texts, in the order of the keys.
func (e *engine) inOrder(t *testing.T, rows []*row) []string {
	t.Helper()
	if len(rows) == 0 {
		return []string{}
	}
	conditions, order := make([]string, len(rows)), make([]string, len(e.m.Key))
	for i, r := range rows {
		conditions[i] = fmt.Sprintf("WHEN %s THEN %s", e.where(r, "o"), literal(r.text))
	}
	for i, k := range e.m.Key {
		order[i] = "o." + quoted(k.Name)
	}
	query := fmt.Sprintf("SELECT x.key FROM (SELECT o.*, CASE %s END AS key FROM %s AS o) AS x WHERE x.key IS NOT NULL ORDER BY %s",
		strings.Join(conditions, " "), quoted(e.m.Table), strings.ReplaceAll(strings.Join(order, ", "), "o.", "x."))
	found, err := e.pool.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("ask the order of keys: %v", err)
	}
	keys, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("ask the order of keys: %v", err)
	}
	return keys
}

// byServerClock runs a sweep without a time in a transaction, over a row that is
// due at the very time of the transaction and over one that is due a microsecond
// later.
func (e *engine) byServerClock(t *testing.T, like *overdue, sweep fsm.Sweep) {
	t.Helper()
	e.within(t, func(ctx context.Context, tx pgx.Tx, now time.Time) {
		rows := []*row{}
		for _, due := range []time.Time{now, now.Add(time.Microsecond)} {
			r, err := e.newRowOn(ctx, tx, seed{state: like.state, event: like.event.Name, values: like.given, due: typed(literal(stamp(due)), "timestamptz")})
			if err != nil {
				like.fatal(insideStep, "%v", err)
			}
			rows = append(rows, r)
		}
		before, err := e.look(ctx, tx, rows[0])
		if err != nil {
			like.fatal(insideStep, "look at the row: %v", err)
		}
		s := shot{event: like.event, at: now, actor: "sweep"}
		j, err := e.judge(ctx, tx, rows[0], before, s)
		if err != nil {
			like.fatal(insideStep, "ask the guards: %v", err)
		}
		must, err := e.expect(ctx, tx, rows[0], before, s, j)
		if err != nil {
			like.fatal(insideStep, "ask what must be: %v", err)
		}
		swept, err := sweep(ctx, e.on(tx), fsm.SweepPage{Actor: "sweep"})
		if err != nil {
			like.fatal(insideStep, "%v", err)
		}
		if keys := keysOf(swept); !slices.Contains(keys, rows[0].text) || slices.Contains(keys, rows[1].text) {
			like.fatal(insideStep, "the sweep moved %q, want %q and not %q", keys, rows[0].text, rows[1].text)
		}
		after, err := e.look(ctx, tx, rows[0])
		if err != nil {
			like.fatal(insideStep, "look at the row: %v", err)
		}
		e.leave(before, must, after)
		if d := difference(must, after); d != "" {
			like.fatal(insideStep, "left other than it must (- want, + got)%s", d)
		}
	})
}
