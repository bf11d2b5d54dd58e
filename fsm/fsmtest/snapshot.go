package fsmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// record is a row of a table as JSON has it, numbers as they are written.
type record map[string]any

// snapshot is all that a call may touch.
type snapshot struct {
	// Tuple tells the row's version in the table's file, and who has locked it.
	Tuple string `json:"tuple"`
	// Row is nil for no row.
	Row record `json:"row"`
	// History, Facts, Outbox and Audit are what belongs to the row, in the order
	// in which it was written.
	History []record `json:"history"`
	Facts   []record `json:"facts"`
	Outbox  []record `json:"outbox"`
	Audit   []record `json:"audit"`
}

// look reads the snapshot of a row.
func (e *engine) look(ctx context.Context, q querier, r *row) (snapshot, error) {
	var s snapshot
	if err := decode(q.QueryRow(ctx, e.lookSQL(r), once), &s); err != nil {
		return snapshot{}, err
	}
	e.today(s)
	return s, nil
}

// decode reads a column of JSON, numbers as they are written.
func decode(row pgx.Row, into any) error {
	var text []byte
	if err := row.Scan(&text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

func (e *engine) lookSQL(r *row) string {
	m := e.m
	var keys []string
	for _, k := range m.Key {
		keys = append(keys, literal(k.Name))
	}
	without := " - ARRAY[" + strings.Join(keys, ", ") + "]"
	list := func(table, where, order, without string) string {
		return fmt.Sprintf("(SELECT COALESCE(jsonb_agg(to_jsonb(x)%s ORDER BY %s), '[]') FROM %s AS x WHERE %s)", without, order, table, where)
	}
	ours := fmt.Sprintf("x.machine = %s AND x.key = %s", literal(m.Name), literal(r.text))
	facts := "'[]'::jsonb"
	if m.Facts != "" {
		facts = list(quoted(m.Facts), e.where(r, "x"), "x.at, x.event, x.identity", without)
	}
	return fmt.Sprintf(`SELECT jsonb_build_object(
  'tuple', (SELECT concat_ws(' ', o.ctid, o.xmin, o.xmax) FROM %[1]s AS o WHERE %[2]s),
  'row', (SELECT to_jsonb(o) FROM %[1]s AS o WHERE %[2]s),
  'history', %[3]s,
  'facts', %[4]s,
  'outbox', %[5]s,
  'audit', %[6]s)`, quoted(m.Table), e.where(r, "o"),
		list(quoted(m.History), e.where(r, "x"), "x.version", without), facts,
		list("fsm_outbox", ours, "x.id", " - ARRAY['id', 'hold']"), list("fsm_audit", ours, "x.id", " - ARRAY['id']"))
}

// today calls the states of a snapshot by the names of today, whatever the
// database calls them.
func (e *engine) today(s snapshot) {
	name := func(r record, fields ...string) {
		for _, f := range fields {
			switch v := r[f].(type) {
			case string:
				r[f] = e.stateOf(v)
			case json.Number:
				r[f] = e.stateOf(v.String())
			}
		}
	}
	name(s.Row, e.m.Status)
	for _, r := range slices.Concat(s.History, s.Facts, s.Audit) {
		name(r, "from_status", "to_status")
	}
	for _, r := range s.Outbox {
		if payload, ok := r["payload"].(map[string]any); ok {
			name(payload, "from", "to")
		}
	}
}

// clone copies a snapshot as far as an expectation changes it.
func (s snapshot) clone() snapshot {
	s.Row = maps.Clone(s.Row)
	s.History, s.Facts = slices.Clip(s.History), slices.Clip(s.Facts)
	s.Outbox, s.Audit = slices.Clip(s.Outbox), slices.Clip(s.Audit)
	return s
}

// lines are the snapshot for people and for comparing, one line a column of the
// row and one a record.
func (s snapshot) lines() []string {
	var lines []string
	if s.Row == nil {
		lines = append(lines, "no row")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Row)) {
		lines = append(lines, "row "+name+": "+text(s.Row[name]))
	}
	for _, part := range []struct {
		name    string
		records []record
	}{{"history", s.History}, {"fact", s.Facts}, {"outbox", s.Outbox}, {"audit", s.Audit}} {
		for _, r := range part.records {
			lines = append(lines, part.name+" "+text(r))
		}
	}
	return lines
}

func text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// difference lists what is in one snapshot alone, "-" before what was wanted
// and "+" before what is there; empty for two that are equal.
func difference(want, got snapshot) string {
	var b strings.Builder
	w, g := want.lines(), got.lines()
	for _, line := range w {
		if !slices.Contains(g, line) {
			b.WriteString("\n  - " + line)
		}
	}
	for _, line := range g {
		if !slices.Contains(w, line) {
			b.WriteString("\n  + " + line)
		}
	}
	if b.Len() == 0 && len(w) != len(g) {
		return fmt.Sprintf("\n  - %d lines\n  + %d lines, the same ones", len(w), len(g))
	}
	return b.String()
}
