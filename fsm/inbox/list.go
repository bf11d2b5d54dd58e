package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Item is an event as it is stored.
type Item struct {
	ID                                                   int64
	Provider, EventID, Type, Object, Status, Fingerprint string
	State                                                State
	// Outcome is the machine's, of a done event, and of a dead one that it judged.
	Outcome fsm.Outcome
	// Reason says why the event is parked or dead, or was.
	Reason   string
	Attempts int
	// Due is when a parked event is tried again, or a received one's lease ends;
	// nil for an event that has ended, or whose time is infinite.
	Due        *time.Time
	ReceivedAt time.Time
	EndedAt    *time.Time
}

// Query says which events [List] returns.
type Query struct {
	State State
	// Provider is empty for all.
	Provider string
	// After is the ID of the last item of the page before, 0 for the first page.
	After int64
	// Limit is the greatest number of items; 0 means 100, and more than 1,000
	// means 1,000.
	Limit int
}

const listEvents = `SELECT i.id, i.provider, i.event_id, i.type, i.object, i.status, i.fingerprint, i.state, i.outcome, i.reason,
  i.attempts, CASE WHEN isfinite(i.due_at) THEN i.due_at END, i.received_at, i.ended_at
FROM fsm_inbox i WHERE i.state = $1 AND ($2 = '' OR i.provider = $2) AND i.id > $3 ORDER BY i.id LIMIT $4`

// List returns a page of the events in one state, in the order in which they were
// received; none when there are no more. The error is fsm.ErrArgument for a state
// that there is not, or the database's.
func List(ctx context.Context, db fsm.DB, q Query) ([]Item, error) {
	known := false
	for _, s := range States() {
		known = known || s == q.State
	}
	if !known {
		return nil, fmt.Errorf("%w: no such state", fsm.ErrArgument)
	}
	if err := checkText("provider", q.Provider, 0, maxProviderName); err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, listEvents, string(q.State), q.Provider, q.After, limited(q.Limit))
	if err != nil {
		return nil, stored("list", err)
	}
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i Item, err error) {
		err = row.Scan(&i.ID, &i.Provider, &i.EventID, &i.Type, &i.Object, &i.Status, &i.Fingerprint, &i.State, &i.Outcome,
			&i.Reason, &i.Attempts, &i.Due, &i.ReceivedAt, &i.EndedAt)
		return i, err
	})
	return items, stored("list", err)
}

func limited(n int) int {
	switch {
	case n <= 0:
		return 100
	case n > 1000:
		return 1000
	}
	return n
}

// Backlog is how much waits.
type Backlog struct {
	// Waiting counts received and parked events, Dead those that wait for a person.
	Waiting, Dead int64
	// Overdue is for how long the event due first has been due: about nothing
	// while a [Retry] runs.
	Overdue time.Duration
}

const backlog = `SELECT
  (SELECT count(*) FROM fsm_inbox i WHERE i.due_at IS NOT NULL),
  (SELECT count(*) FROM fsm_inbox i WHERE i.state = 'dead'),
  COALESCE((SELECT GREATEST(clock_timestamp() - min(i.due_at), interval '0') FROM fsm_inbox i WHERE i.due_at > '-infinity' AND i.due_at < 'infinity'), interval '0')`

// Pending returns the backlog of all providers, for a gauge and an alarm. It reads
// no more rows than wait.
func Pending(ctx context.Context, db fsm.DB) (Backlog, error) {
	var b Backlog
	err := db.QueryRow(ctx, backlog).Scan(&b.Waiting, &b.Dead, &b.Overdue)
	return b, stored("list", err)
}

// Arrival is a delivery as it is stored. The body is not read with it.
type Arrival struct {
	ID         int64
	Provider   string
	MessageID  string
	ReceivedAt time.Time
	Headers    map[string]string
	// Events and Verdicts belong together by position. Verdicts is empty while
	// the outcome is not recorded.
	Events   []int64
	Verdicts []Verdict
	// HasBody tells whether the body is kept.
	HasBody bool
}

const (
	deliveryColumns = `SELECT d.id, d.provider, d.message_id, d.received_at, d.headers, d.events, d.verdicts, d.body IS NOT NULL FROM fsm_deliveries d `

	deliveriesOf = deliveryColumns + `WHERE d.events @> ARRAY[$1::bigint] AND d.id > $2 ORDER BY d.id LIMIT $3`
	oddOnes      = deliveryColumns + `WHERE d.verdicts && '{unreadable,conflict}' AND d.id::text NOT IN (` + closedOdd + `)
  AND d.id > $1 ORDER BY d.id LIMIT $2`

	bodyOf = `SELECT d.body FROM fsm_deliveries d WHERE d.id = $1`
)

// Deliveries returns a page of the deliveries that told of an event, in the order
// in which they came, after the delivery of that number; limit is as of [Query].
func Deliveries(ctx context.Context, db fsm.DB, event, after int64, limit int) ([]Arrival, error) {
	return arrivals(ctx, db, deliveriesOf, event, after, limited(limit))
}

// Odd returns a page of the deliveries that were unreadable, or in conflict with
// what was told before, and that nobody has closed: those that a person has to look
// at, beside dead events. They wait there until [Inbox.EndOdd].
func Odd(ctx context.Context, db fsm.DB, after int64, limit int) ([]Arrival, error) {
	return arrivals(ctx, db, oddOnes, after, limited(limit))
}

// Body returns a delivery's body as it was received, nil when it was not kept. It
// holds customers' data. The error is fsm.ErrNotFound, or the database's.
func Body(ctx context.Context, db fsm.DB, delivery int64) ([]byte, error) {
	var body []byte
	err := missing(db.QueryRow(ctx, bodyOf, delivery).Scan(&body))
	return body, stored("read", err)
}

func arrivals(ctx context.Context, db fsm.DB, sql string, args ...any) ([]Arrival, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, stored("list", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Arrival, err error) {
		err = row.Scan(&a.ID, &a.Provider, &a.MessageID, &a.ReceivedAt, &a.Headers, &a.Events, &a.Verdicts, &a.HasBody)
		return a, err
	})
	return list, stored("list", err)
}
