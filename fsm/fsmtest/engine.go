package fsmtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// engine runs the cases of one machine in one database.
type engine struct {
	m          *Machine
	pool       *pgxpool.Pool
	statements statements
	// callers are sessions in the role of the calls; nil where that is the tests'.
	callers *pgxpool.Pool
	role    string
	keys    *atomic.Int64
	// batch has the calls of events made by batches of one.
	batch bool
	// facts has one lock for each event with an identity: its cases bring the
	// same identities, so they take turns.
	facts map[string]*sync.Mutex
	// values are those that the user gives, by column or, with @, parameter.
	values map[string][]string
}

func newEngine(m *Machine, pool *pgxpool.Pool, s statements) *engine {
	own := *m // so that values may be found for its cases and columns
	own.Cases, own.Columns = slices.Clone(m.Cases), slices.Clone(m.Columns)
	e := &engine{m: &own, pool: pool, statements: s, keys: new(atomic.Int64), facts: map[string]*sync.Mutex{}}
	for _, event := range m.Events {
		if len(event.Identity) > 0 {
			e.facts[event.Name] = &sync.Mutex{}
		}
	}
	return e
}

// batched is the engine on the same database, which calls events by batches.
func (e *engine) batched() *engine {
	b := *e
	b.batch = true
	return &b
}

// turn waits until nobody else's case brings facts of the events. What it
// returns gives the turn back.
func (e *engine) turn(events ...string) (release func()) {
	slices.Sort(events) // one order for all, so that nobody waits in a circle
	var held []*sync.Mutex
	for _, name := range slices.Compact(events) {
		if lock := e.facts[name]; lock != nil {
			lock.Lock()
			held = append(held, lock)
		}
	}
	return func() {
		for _, lock := range held {
			lock.Unlock()
		}
	}
}

// row is a row that belongs to one case.
type row struct {
	// key are the key's columns as SQL, text is the key as outbox and audit have it.
	key  []string
	text string
}

// where is the condition on a table, called alias, that finds the row.
func (e *engine) where(r *row, alias string) string {
	same := make([]string, len(r.key))
	for i, k := range e.m.Key {
		same[i] = alias + "." + quoted(k.Name) + " = " + r.key[i]
	}
	return strings.Join(same, " AND ")
}

// newKey is the key of a row that nobody has made.
func (e *engine) newKey(ctx context.Context) (*row, error) {
	n := e.keys.Add(1)
	r := &row{}
	for _, k := range e.m.Key {
		r.key = append(r.key, typed(keyValue(k.Type, n), k.Type))
	}
	return r, e.pool.QueryRow(ctx, "SELECT "+keyText(r.key, base(e.m.Key[0].Type) == "date"), once).Scan(&r.text)
}

// keyText is the SQL of a key's text, the same whatever the session's settings. date
// says of a single column that it is a date.
func keyText(columns []string, date bool) string {
	switch {
	case len(columns) > 1:
		return "jsonb_build_array(" + strings.Join(columns, ", ") + ")::text"
	case date:
		return "to_jsonb(" + columns[0] + ") #>> '{}'"
	}
	return columns[0] + "::text"
}

// keyValue is the n-th value of a type that keys may have.
func keyValue(typ string, n int64) string {
	switch base(typ) {
	case "uuid":
		return fmt.Sprintf("'00000000-0000-4000-8000-%012x'", n)
	case "date":
		return fmt.Sprintf("date '2000-01-01' + %d", n)
	case "boolean":
		return strconv.FormatBool(n%2 == 1)
	case "smallint", "integer", "bigint":
		return strconv.FormatInt(n, 10)
	}
	return literal("k" + strconv.FormatInt(n, 36))
}

func (e *engine) event(name string) *Event {
	for i := range e.m.Events {
		if e.m.Events[i].Name == name {
			return &e.m.Events[i]
		}
	}
	return nil
}

func (e *engine) state(name string) *State {
	for i := range e.m.States {
		if e.m.States[i].Name == name {
			return &e.m.States[i]
		}
	}
	return nil
}

// stateOf is today's name of a state that a column or a record holds.
func (e *engine) stateOf(text string) string {
	if e.state(text) != nil {
		return text
	}
	for _, s := range e.m.States {
		if slices.Contains(s.Stored, text) {
			return s.Name
		}
	}
	return text
}

// fire makes a call of the event at the row. on is nil for a connection of its own.
func (e *engine) fire(ctx context.Context, on fsm.DB, event *Event, r *row, values Values, options ...fsm.Option) (Answer, error) {
	list := e.keyList(r)
	for _, p := range event.Params {
		v, err := given(values, p)
		if err != nil {
			return Answer{}, err
		}
		list = append(list, asGo(v, p, false))
	}
	return event.Call(e.call(ctx, on, list, options))
}

// keyList are the key's columns for Go to read.
func (e *engine) keyList(r *row) []string {
	var list []string
	for i, k := range e.m.Key {
		list = append(list, asGo(r.key[i], k, true))
	}
	return list
}

func (e *engine) call(ctx context.Context, on fsm.DB, list []string, options []fsm.Option) *Call {
	if on == nil {
		on = e.pool
	}
	return &Call{
		Context: ctx, On: single{e.on(on)}, Batch: e.batch,
		Options: append([]fsm.Option{fsm.At(clock), fsm.Actor(actor), fsm.Reason(reason), fsm.RequestID(request)}, options...),
		row:     e.pool.QueryRow(ctx, "SELECT "+strings.Join(list, ", "), once),
	}
}
