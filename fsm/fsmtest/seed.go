package fsmtest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// seedVersion is the version of a row that was made for a case. Its history has
// three entries: the creation, one of the event under test, and one of neither.
const seedVersion = 3

// Events in the history of a row that was made for a case.
const (
	createEvent = "create"
	seedEvent   = "seed"
)

// seedDue is the due time of such a row: so late that no sweep takes it.
const seedDue = "'2190-01-01 00:00:00+00'"

// seed is a row to be made.
type seed struct {
	state, event string
	values       Values
	version      int
	// due and runs are SQL for the deadline's columns.
	due, runs string
	// apart says that no guard looks at the counters which values leaves out.
	apart bool
}

// newRow makes the row, with a history.
func (e *engine) newRow(ctx context.Context, s seed) (*row, error) {
	return e.newRowOn(ctx, e.pool, s)
}

// newRowOn makes it in a transaction, or on the pool.
func (e *engine) newRowOn(ctx context.Context, on fsm.DB, s seed) (*row, error) {
	s.version = seedVersion
	r, insert, err := e.insert(ctx, s)
	if err != nil {
		return nil, err
	}
	if _, err := on.Exec(ctx, insert); err != nil {
		return nil, fmt.Errorf("make a row in %s: %w", s.state, err)
	}
	if err := e.tellApart(ctx, on, r, s); err != nil {
		return nil, err
	}
	_, err = on.Exec(ctx, e.seedHistory(r, s))
	return r, err
}

// tellApart gives the counters of a row, which begin with the same default,
// values of which no two are the same, so that an answer that mixes them up is
// seen: falling ones, or rising ones, or none where the table's checks refuse
// both.
func (e *engine) tellApart(ctx context.Context, on fsm.DB, r *row, s seed) error {
	if !s.apart {
		return nil
	}
	var names []string
	for _, c := range e.m.Columns {
		_, known := s.values[c.Name]
		if b := base(c.Type); c.Set && c.Default != "" && !known && (b == "integer" || b == "bigint") {
			names = append(names, quoted(c.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	falling, rising := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		falling[i], rising[i] = fmt.Sprintf("%s = %d", name, len(names)-i), fmt.Sprintf("%s = %d", name, i+1)
	}
	for _, set := range [][]string{falling, rising} {
		tx, err := on.Begin(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE "+quoted(e.m.Table)+" AS o SET "+strings.Join(set, ", ")+" WHERE "+e.where(r, "o"))
		if err == nil {
			return tx.Commit(ctx)
		}
		if err := tx.Rollback(ctx); err != nil {
			return err
		}
	}
	return nil
}

// insert is the statement that makes the row.
func (e *engine) insert(ctx context.Context, s seed) (*row, string, error) {
	r, err := e.newKey(ctx)
	if err != nil {
		return nil, "", err
	}
	m, state := e.m, e.state(s.state)
	columns := []string{quoted(m.Status), quoted(m.Version)}
	values := []string{typed(literal(state.Stored[0]), e.statusType()), fmt.Sprint(s.version)}
	add := func(column, value string) { columns, values = append(columns, quoted(column)), append(values, value) }
	for i, k := range m.Key {
		add(k.Name, r.key[i])
	}
	switch {
	case m.Deadline == "":
	case s.due != "":
		add(m.Deadline, s.due)
	case state.After > 0:
		add(m.Deadline, seedDue)
	}
	if m.Runs != "" {
		add(m.Runs, cmp.Or(s.runs, seedRuns))
	}
	for _, c := range m.Columns {
		if _, known := s.values[c.Name]; !known && (c.Default != "" || c.Optional) {
			continue
		}
		v, err := given(s.values, c)
		if err != nil {
			return nil, "", err
		}
		if _, known := s.values[c.Name]; !known && c.Set && base(c.Type) == "text" && c.Value != "" {
			v = typed("'before'", c.Type) // so that a call which sets it is seen
		}
		add(c.Name, v)
	}
	return r, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(m.Table), strings.Join(columns, ", "), strings.Join(values, ", ")), nil
}

func (e *engine) seedHistory(r *row, s seed) string {
	var names []string
	for _, k := range e.m.Key {
		names = append(names, quoted(k.Name))
	}
	initial, now := e.m.Initial, s.state
	entry := func(version int, event, from, to string) string {
		return fmt.Sprintf("(%s, %d, %s, %s, %s, %s)", strings.Join(r.key, ", "), version, literal(event), from, literal(to), typed(literal(stamp(seedTime)), "timestamptz"))
	}
	return fmt.Sprintf("INSERT INTO %s (%s, version, event, from_status, to_status, at) VALUES %s", quoted(e.m.History), strings.Join(names, ", "),
		strings.Join([]string{
			entry(1, createEvent, "NULL", initial),
			entry(2, s.event, literal(initial), now),
			entry(seedVersion, seedEvent, literal(now), now),
		}, ", "))
}

// seedRuns is how often the deadline of such a row has come, so that a call
// which must forget it is seen.
const seedRuns = "1"

// recorded is what a record says of a state: what the column holds, but a name
// where that is a number.
func (e *engine) recorded(state string) string {
	switch base(e.m.StatusType) {
	case "smallint", "integer", "bigint":
		return state
	}
	return e.state(state).Stored[0]
}

// seedTime is the time of its entries.
var seedTime = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

func (e *engine) statusType() string {
	if e.m.StatusType == "text" || base(e.m.StatusType) != e.m.StatusType {
		return e.m.StatusType
	}
	switch e.m.StatusType {
	case "smallint", "integer", "bigint":
		return e.m.StatusType
	}
	return quoted(e.m.StatusType)
}
