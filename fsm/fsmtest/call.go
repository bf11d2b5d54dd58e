package fsmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Call is what a generated test gives to a generated call.
type Call struct {
	Context context.Context
	On      fsm.DB
	Options []fsm.Option
	// To is the state that a correction forces the row into.
	To string
	// Batch says that an event is to be fired by its batch, of this one item.
	Batch bool

	row pgx.Row
}

// Scan reads the key, and then the event's parameters or what a row is made of.
func (c *Call) Scan(dest ...any) error { return c.row.Scan(dest...) }

// Answer is what a call answered, without the machine's types.
type Answer struct {
	Outcome fsm.Outcome
	State   string
	Version int64
	Made    fsm.Transition[string]
	Guards  []string
	Row     any
	// Snapshot says that the transaction sees one snapshot all along.
	Snapshot bool
}

// AnswerOf is a result as an answer.
func AnswerOf[S ~string, R any](r fsm.Result[S, R], err error) (Answer, error) {
	a := Answer{
		Outcome: r.Outcome, State: string(r.State), Version: r.Version, Row: r.Row, Snapshot: r.Snapshot,
		Made: fsm.Transition[string]{
			Event: r.Transition.Event, Outcome: r.Transition.Outcome,
			From: string(r.Transition.From), To: string(r.Transition.To), Version: r.Transition.Version,
		},
	}
	for _, g := range r.Guards {
		a.Guards = append(a.Guards, g.Name)
	}
	return a, err
}

// BatchAnswerOf is what a batch of one item answers it.
func BatchAnswerOf[S ~string, R any](results []fsm.BatchResult[S, R], err error) (Answer, error) {
	switch {
	case len(results) != 1:
		return Answer{}, fmt.Errorf("a batch of one item answers %d", len(results))
	case err != nil && !errors.Is(results[0].Err, err):
		return Answer{}, fmt.Errorf("the batch fails, %w, and its item says %w", err, results[0].Err)
	}
	return AnswerOf(results[0].Result, results[0].Err)
}

// EntriesOf is a history without the machine's type.
func EntriesOf[S ~string](entries []fsm.Entry[S], err error) ([]fsm.Entry[string], error) {
	var list []fsm.Entry[string]
	for _, e := range entries {
		list = append(list, fsm.Entry[string]{
			Version: e.Version, Event: e.Event, From: string(e.From), To: string(e.To),
			Actor: e.Actor, Reason: e.Reason, RequestID: e.RequestID, Forced: e.Forced, At: e.At,
		})
	}
	return list, err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// typed casts a literal to a type.
func typed(sql, to string) string { return "(" + sql + ")::" + to }

// base is a type without a length.
func base(typ string) string {
	name, _, _ := strings.Cut(typ, "(")
	return strings.TrimSpace(name)
}

// asGo casts what Go has as text: a uuid, and a date that is part of a key.
func asGo(sql string, c Column, key bool) string {
	if b := base(c.Type); b == "uuid" || key && b == "date" {
		return "(" + sql + ")::text"
	}
	return sql
}

// given is a value of the column by name, else the one that suits it.
func given(values Values, c Column) (string, error) {
	if v, ok := values[c.Name]; ok {
		return typed(v, c.Type), nil
	}
	switch {
	case c.Value != "":
		return typed(c.Value, c.Type), nil
	case c.Optional:
		return typed("NULL", c.Type), nil
	}
	return "", fmt.Errorf("no value is known for %s", c.Name)
}

// params is the table p of an event's parameters.
func params(event *Event, values Values) (string, error) {
	list := make([]string, len(event.Params))
	for i, p := range event.Params {
		v, err := given(values, p)
		if err != nil {
			return "", err
		}
		list[i] = v + " AS " + quoted(p.Name)
	}
	return "(SELECT " + strings.Join(list, ", ") + ") AS p", nil
}

// Why is what a correction must say.
func (c *Call) Why() fsm.Correction { return fsm.Correction{Actor: actor, Reason: reason} }
