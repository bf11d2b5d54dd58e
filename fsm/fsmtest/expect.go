package fsmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// What every call of a case brings, so that it must be found again.
const (
	actor   = "tester"
	reason  = "matrix"
	request = "request-1"
)

// clock is the time of every call, to the microsecond that PostgreSQL keeps.
var clock = time.Date(2031, 5, 6, 7, 8, 9, 123457000, time.UTC)

// stamp is a time as PostgreSQL writes it in JSON.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999-07:00") }

// shot is one call: what is fired at which row.
type shot struct {
	event                  *Event
	values                 Values
	at                     time.Time
	actor, reason, request string
}

func shotOf(event *Event, values Values) shot {
	return shot{event, values, clock, actor, reason, request}
}

// querier is where questions about rows are asked: the pool, or a transaction
// that sees what it has written.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// once is how a question is asked that no other one equals, since the row's key
// is in its text: it is not prepared, and so it drives no generated statement out
// of a connection's cache.
const once = pgx.QueryExecModeExec

// judged is what the definition says of a call.
type judged struct {
	outcome fsm.Outcome
	// move is nil where the row does not move.
	move   *Transition
	emit   []string
	guards []string
}

// judge asks the definition what a call does at the row as it is: the
// transitions of its state in order, and the decision behind them. The guards are
// evaluated by PostgreSQL in a plain SELECT.
func (e *engine) judge(ctx context.Context, q querier, r *row, before snapshot, s shot) (judged, error) {
	state, _ := before.Row[e.m.Status].(string)
	var j judged
	for i := range s.event.Transitions {
		t := &s.event.Transitions[i]
		if !slices.Contains(t.From, state) {
			continue
		}
		holds := true
		if t.Guard != "" {
			j.guards = append(j.guards, t.Name)
			if err := e.ask(ctx, q, r, s, "to_jsonb(("+t.Guard+") IS TRUE)", &holds); err != nil {
				return judged{}, err
			}
		}
		if holds {
			return judged{outcome: fsm.Applied, move: t, emit: t.Emit}, nil
		}
	}
	for _, d := range s.event.Otherwise {
		if slices.Contains(d.In, state) {
			j.outcome, j.emit = d.Outcome, d.Emit
			return j, nil
		}
	}
	return judged{}, fmt.Errorf("nothing is decided for %s in %s", s.event.Name, state)
}

// ask evaluates an expression over row, parameters and clock, which must be
// jsonb, before the call.
func (e *engine) ask(ctx context.Context, q querier, r *row, s shot, sql string, into any) error {
	from := fmt.Sprintf("%s AS o CROSS JOIN (SELECT %s::timestamptz AS now) AS c", quoted(e.m.Table), literal(stamp(s.at)))
	if len(s.event.Params) > 0 {
		p, err := params(s.event, s.values)
		if err != nil {
			return err
		}
		from += " CROSS JOIN " + p
	}
	query := "SELECT " + sql + " FROM " + from + " WHERE " + e.where(r, "o")
	if err := decode(q.QueryRow(ctx, query, once), into); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// expect is the snapshot that a judged call must leave.
func (e *engine) expect(ctx context.Context, q querier, r *row, before snapshot, s shot, j judged) (snapshot, error) {
	after := before.clone()
	if j.outcome != fsm.Applied && j.outcome != fsm.Compensated {
		return after, nil
	}
	from, _ := before.Row[e.m.Status].(string)
	version, to := versionOf(before, e.m), from
	if j.move != nil {
		version, to = version+1, j.move.To
		if err := e.moved(ctx, q, r, after, s, j.move); err != nil {
			return snapshot{}, err
		}
		after.History = append(after.History, record{
			"version": number(version), "event": s.event.Name, "from_status": from, "to_status": to,
			"actor": s.actor, "reason": s.reason, "request_id": s.request, "forced": false, "at": stamp(s.at),
		})
	}
	told, err := e.told(ctx, q, r, s)
	if err != nil {
		return snapshot{}, err
	}
	if len(s.event.Identity) > 0 {
		after.Facts = append(after.Facts, record{
			"event": s.event.Name, "identity": told.Identity, "fingerprint": told.Fingerprint, "outcome": string(j.outcome),
			"from_status": from, "to_status": to, "version": number(version), "at": stamp(s.at),
		})
	}
	for _, topic := range j.emit {
		after.Outbox = append(after.Outbox, e.emitted(r, s.event.Name, topic, version, from, to, told, s.at))
	}
	return after, nil
}

// moved changes the row of a snapshot as a transition must.
func (e *engine) moved(ctx context.Context, q querier, r *row, after snapshot, s shot, t *Transition) error {
	m, from := e.m, after.Row[e.m.Status]
	runs := after.Row[m.Runs]
	after.Row[m.Version] = number(versionOf(after, m) + 1)
	e.enter(after, t.To, s.at)
	to := e.state(t.To)
	if m.Runs != "" && from == t.To && to.Max > 0 && to.Event == s.event.Name {
		n, _ := runs.(json.Number)
		ran, err := n.Int64()
		if err != nil {
			return err
		}
		after.Row[m.Runs] = number(ran + 1)
		if ran+1 >= int64(to.Max) {
			after.Row[m.Deadline] = nil
		}
	}
	for _, a := range t.Set {
		var value any
		if err := e.ask(ctx, q, r, s, "COALESCE(to_jsonb(("+a.SQL+")::"+e.column(a.Column).Type+"), 'null')", &value); err != nil {
			return err
		}
		after.Row[a.Column] = value
	}
	return nil
}

// enter changes the row of a snapshot as the entry into a state does.
func (e *engine) enter(after snapshot, state string, now time.Time) {
	m, to := e.m, e.state(state)
	after.Row[m.Status] = state
	if m.Deadline != "" {
		after.Row[m.Deadline] = nil
		if to.After > 0 {
			after.Row[m.Deadline] = stamp(now.Add(to.After))
		}
	}
	if m.Runs != "" {
		after.Row[m.Runs] = number(0)
	}
}

func (e *engine) column(name string) Column {
	for _, c := range e.m.Columns {
		if c.Name == name {
			return c
		}
	}
	return Column{}
}

// told is what a call tells beside the row, as facts and outbox keep it.
type told struct {
	Identity    any    `json:"identity"`
	Fingerprint string `json:"fingerprint"`
	Params      any    `json:"params"`
}

func (e *engine) told(ctx context.Context, q querier, r *row, s shot) (told, error) {
	params := "'{}'::jsonb"
	if len(s.event.Params) > 0 {
		params = "to_jsonb(p)"
	}
	var t told
	err := e.ask(ctx, q, r, s, fmt.Sprintf("jsonb_build_object('identity', %s, 'fingerprint', %s, 'params', %s)",
		canonical(s.event.Identity, "NULL"), canonical(s.event.Fingerprint, "''"), params), &t)
	return t, err
}

// canonical is an identity or a fingerprint as one text: that of its only part,
// or a JSON array of all.
func canonical(parts []string, none string) string {
	columns := make([]string, len(parts))
	for i, p := range parts {
		columns[i] = "p." + quoted(p)
	}
	switch len(parts) {
	case 0:
		return none
	case 1:
		return "concat(" + columns[0] + ")"
	}
	return "jsonb_build_array(" + strings.Join(columns, ", ") + ")::text"
}

// emitted is one row of the outbox. from is nil for a creation.
func (e *engine) emitted(r *row, event, topic string, version int64, from any, to string, t told, at time.Time) record {
	return record{
		"machine": e.m.Name, "key": r.text, "version": number(version), "event": event, "topic": topic, "at": stamp(at),
		"payload": map[string]any{
			"machine": e.m.Name, "key": r.text, "version": number(version), "event": event,
			"from": from, "to": to, "params": t.Params, "identity": t.Identity,
		},
	}
}

func number(n int64) json.Number { return json.Number(fmt.Sprint(n)) }

func versionOf(s snapshot, m *Machine) int64 {
	n, _ := s.Row[m.Version].(json.Number)
	v, _ := n.Int64()
	return v
}
