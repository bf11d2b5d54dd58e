package randommachine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// line is what one call must have written beside the row, or has: a line for each
// row of the history, the facts, the outbox and the audit.
type line struct {
	Table, Key string
	Version    int64
	Event      string
	// What is the topic, the fact's identity and fingerprint, or who forced what.
	What            string
	Outcome         string
	From, To        string
	Actor, Reason   string
	Params, Payload string
	At              time.Time
}

// ledger is all that calls must have written.
type ledger struct {
	caller
	lines []line
}

// keyText is a key as outbox and audit have it.
func (c caller) keyText(key string) string {
	parts := strings.Split(key, "\x00")
	if len(parts) == 1 {
		return parts[0]
	}
	all := make([]any, len(parts))
	for i, k := range c.m.Table.Keys {
		all[i] = parts[i]
		switch k.Type.Kind {
		case model.KindInt16, model.KindInt32, model.KindInt64, model.KindBool:
			all[i] = json.Number(parts[i])
		}
	}
	return fsm.KeyText(all...)
}

// entry is what a call of an event must have written, by its answer.
func (l *ledger) entry(key, event string, a oracle.Answer, e *model.Event, params oracle.Values, actor string, now time.Time) {
	l.write(key, event, a.Made, a.History, a.Fact, a.Emits, e, params, actor, now)
}

func (l *ledger) write(key, event string, made oracle.Transition, history, fact bool, emits []string, e *model.Event, params oracle.Values, actor string, now time.Time) {
	base := line{Key: l.keyText(key), Version: made.Version, Event: event, From: made.From, To: made.To, At: now}
	if history {
		h := base
		h.Table, h.Actor = "history", actor
		l.lines = append(l.lines, h)
	}
	identity := ""
	if e != nil && len(e.Identity) > 0 {
		identity = oracle.Identity(e.Identity, params)
	}
	if fact {
		f := base
		f.Table, f.Outcome, f.What = "facts", string(made.Outcome), fmt.Sprintf("%q %q", identity, oracle.Identity(e.Fingerprint, params))
		l.lines = append(l.lines, f)
	}
	for _, topic := range emits {
		o := base
		o.Table, o.What = "outbox", topic
		o.Payload = fmt.Sprintf("%q", identity)
		l.lines = append(l.lines, o)
	}
}

// corrected is what a correction must have written.
func (l *ledger) corrected(key string, made oracle.Transition, who fsm.Correction, now time.Time) {
	base := line{Key: l.keyText(key), Version: made.Version, Event: "correct", From: made.From, To: made.To, Actor: who.Actor, Reason: who.Reason, At: now}
	h, a := base, base
	h.Table, h.What = "history", "forced"
	a.Table = "audit"
	l.lines = append(l.lines, h, a)
}

// state is what the database has.
type state struct {
	rows  []string
	lines []line
}

// expected is what it must have.
func (l *ledger) expected(w oracle.World) state {
	var s state
	for _, key := range w.Keys() {
		r, _ := w.Row(key)
		s.rows = append(s.rows, rowText(key, r.State.Name, r.Version, r.Due, r.Runs, r.Columns))
	}
	s.lines = slices.Clone(l.lines)
	s.sort()
	return s
}

func rowText(key, state string, version int64, due time.Time, runs int, columns oracle.Values) string {
	var names []string
	for name := range columns {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%q: %s, version %d", key, state, version)
	if !due.IsZero() {
		fmt.Fprintf(&b, ", due %s", due.UTC().Format(time.RFC3339Nano))
	}
	if runs != 0 {
		fmt.Fprintf(&b, ", run %d", runs)
	}
	for _, name := range names {
		fmt.Fprintf(&b, ", %s=%#v", name, shownValue(columns[name]))
	}
	return b.String()
}

func shownValue(v any) any {
	if t, is := v.(time.Time); is {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return v
}

func (s *state) sort() {
	sort.Strings(s.rows)
	slices.SortFunc(s.lines, func(a, b line) int { return strings.Compare(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)) })
}

// diff says in what two states differ; empty for nothing.
func (s state) diff(got state) string {
	if reflect.DeepEqual(s, got) {
		return ""
	}
	var b strings.Builder
	compare := func(want, got []string) {
		for _, w := range want {
			if !slices.Contains(got, w) {
				fmt.Fprintf(&b, "missing: %s\n", w)
			}
		}
		for _, g := range got {
			if !slices.Contains(want, g) {
				fmt.Fprintf(&b, "too much: %s\n", g)
			}
		}
	}
	compare(s.rows, got.rows)
	compare(printed(s.lines), printed(got.lines))
	if b.Len() == 0 {
		fmt.Fprintf(&b, "something is there twice: wanted %d rows and %d lines, got %d and %d", len(s.rows), len(s.lines), len(got.rows), len(got.lines))
	}
	return b.String()
}

func printed(lines []line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = fmt.Sprintf("%+v", l)
	}
	return out
}

// read reads what the database has.
func (l *ledger) read(ctx context.Context, conn *pgx.Conn) (state, error) {
	var s state
	m := l.m
	var key, columns []string
	for _, k := range m.Table.Keys {
		key = append(key, sqlname.Ident(k.Name))
	}
	columns = append(columns, key...)
	for _, c := range m.Table.Columns {
		columns = append(columns, sqlname.Ident(c.Name))
	}
	columns = append(columns, "("+sqlname.Ident(m.Table.Status.Column)+")::text AS "+sqlname.Ident(m.Table.Status.Column), sqlname.Ident(m.Table.Version))
	if m.Deadlines() {
		columns = append(columns, sqlname.Ident(m.Table.Deadline))
	}
	if m.CountsRuns() {
		columns = append(columns, sqlname.Ident(m.Table.Runs))
	}
	keys := strings.Join(key, ", ")
	called := sqlname.Machine{Name: m.Name, Table: m.Table.Name}
	queries := []string{
		"SELECT " + strings.Join(columns, ", ") + " FROM " + sqlname.Ident(m.Table.Name),
		"SELECT " + keys + ", version AS fsm_v, event AS fsm_e, from_status AS fsm_from, to_status AS fsm_to, actor AS fsm_actor, reason AS fsm_reason, forced AS fsm_forced, at AS fsm_at FROM " + called.History(),
		"SELECT key, version, event, topic, payload, at, machine, payload->>'key' AS pkey, payload->>'version' AS pversion, payload->>'event' AS pevent, payload->>'machine' AS pmachine, payload->>'from' AS pfrom, payload->>'to' AS pto, payload->>'identity' AS pidentity FROM fsm_outbox",
		"SELECT key, version, action, from_status, to_status, actor, reason, at FROM fsm_audit",
	}
	readers := []func(map[string]*string) error{s.readRow(l), s.readHistory(l), s.readOutbox(), s.readAudit()}
	if m.Facts() {
		queries = append(queries, "SELECT "+keys+", event AS fsm_e, identity AS fsm_identity, fingerprint AS fsm_fingerprint, outcome AS fsm_outcome, from_status AS fsm_from, to_status AS fsm_to, version AS fsm_v, at AS fsm_at FROM "+called.Facts())
		readers = append(readers, s.readFacts(l))
	}
	results, err := conn.PgConn().Exec(ctx, strings.Join(queries, "; ")).ReadAll()
	if err != nil {
		return s, err
	}
	for i, read := range readers {
		for _, raw := range results[i].Rows {
			if err := read(textsOf(results[i].FieldDescriptions, raw)); err != nil {
				return s, err
			}
		}
	}
	s.sort()
	return s, nil
}
