package live

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Deliveries is what providers have told of late.
type Deliveries struct {
	// There says that there is an inbox.
	There bool
	// Verdicts are counted by minute, and the last of those that changed nothing come
	// one by one, the newest first.
	Verdicts []Verdict
	Latest   []Delivery
	// Back is how far back they go: Window, or less where there were more than Most.
	Back     time.Duration
	Policies []string
}

// Verdict is what came of deliveries within one minute, 0 being the last 60 seconds.
type Verdict struct {
	Minute  int
	Verdict string
	N       int64
}

// Delivery is what came of one event of one delivery.
type Delivery struct {
	ID         int64
	Provider   string
	MessageID  string
	Verdict    string
	ReceivedAt time.Time
	// Event is what the inbox has under the event, zero where the delivery could not be
	// read.
	Event InboxEvent
}

// InboxEvent is an event of a provider's.
type InboxEvent struct {
	ID                                            int64
	EventID, Type, Object, Status, State, Outcome string
	Reason                                        string
	Attempts                                      int32
}

var (
	deliveryColumns = []string{"id", "provider", "message_id", "received_at", "events", "verdicts"}
	inboxColumns    = []string{"id", "provider", "event_id", "type", "object", "status", "state", "outcome", "reason", "attempts"}
)

// told selects a Delivery for each event of the deliveries d, which the rest of the
// query names.
const told = `SELECT d.id, d.provider, d.message_id, v.verdict, d.received_at, COALESCE(i.id, 0), COALESCE(i.event_id, ''), COALESCE(i.type, ''), COALESCE(i.object, ''),
  COALESCE(i.status, ''), COALESCE(i.state, ''), COALESCE(i.outcome, ''), COALESCE(i.reason, ''), COALESCE(i.attempts, 0)
`

// delivered reads them.
func delivered(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]Delivery, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Delivery, err error) {
		err = row.Scan(&d.ID, &d.Provider, &d.MessageID, &d.Verdict, &d.ReceivedAt, &d.Event.ID, &d.Event.EventID, &d.Event.Type, &d.Event.Object,
			&d.Event.Status, &d.Event.State, &d.Event.Outcome, &d.Event.Reason, &d.Event.Attempts)
		return d, err
	})
}

// Deliveries reads what came of the last deliveries, by the index on their time. The
// errors are *Error and ctx's.
func (d *Database) Deliveries(ctx context.Context) (Deliveries, error) {
	of := Deliveries{Back: Window}
	err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, "fsm_deliveries", "fsm_inbox")
		if err != nil {
			return err
		}
		deliveries, err := found.readable("fsm_deliveries", deliveryColumns...)
		if deliveries == nil || err != nil {
			return err
		}
		if _, err := found.needed("fsm_inbox", inboxColumns...); err != nil {
			return err
		}
		of.There, of.Policies = true, found.policed("fsm_deliveries", "fsm_inbox")
		// fsm_deliveries_received_idx
		last := `(SELECT d.id, d.provider, d.message_id, d.received_at, d.events, d.verdicts FROM fsm_deliveries AS d
  WHERE ` + recent("d.received_at") + ` ORDER BY d.received_at DESC, d.id DESC LIMIT $1)`
		few := `SELECT d.n, extract(epoch FROM now() - d.received_at)::float8 FROM (SELECT count(*) AS n, min(f.received_at) AS received_at FROM ` + last + ` AS f) AS d`
		var n int64
		var reach *float64
		if err := tx.QueryRow(ctx, few, Most).Scan(&n, &reach); err != nil {
			return err
		}
		if n == Most && reach != nil {
			of.Back = min(Window, seconds(*reach))
		}
		of.Verdicts, err = all[Verdict](ctx, tx, `SELECT greatest(0, floor(extract(epoch FROM now() - d.received_at) / 60))::int, v.verdict, count(*)
FROM `+last+` AS d, unnest(COALESCE(d.verdicts, array_fill('interrupted'::text, ARRAY[greatest(1, cardinality(d.events))]))) AS v(verdict) GROUP BY 1, 2 ORDER BY 1, 2`, Most)
		if err != nil {
			return err
		}
		of.Latest, err = delivered(ctx, tx, told+`FROM (SELECT f.*, v.verdict, f.events[v.place] AS event FROM `+last+` AS f, unnest(f.verdicts) WITH ORDINALITY AS v(verdict, place)
  WHERE v.verdict NOT IN ('done', 'ignored', 'running') ORDER BY f.received_at DESC, f.id DESC LIMIT 20) AS d
CROSS JOIN LATERAL (SELECT d.verdict) AS v LEFT JOIN fsm_inbox AS i ON i.id = d.event ORDER BY d.received_at DESC, d.id DESC`, Most)
		return err
	})
	return of, err
}
