package live

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// loose lists the first values of an index's first column, one look-up each.
func loose(table, column string, most int) string { return looseWhere(table, column, "true", most) }

// looseWhere is loose for an index that is partial, by its condition on x.
func looseWhere(table, column, condition string, most int) string {
	return fmt.Sprintf(`(WITH RECURSIVE w AS ((SELECT x.%[2]s AS v, 1 AS n FROM %[1]s AS x WHERE %[3]s ORDER BY x.%[2]s LIMIT 1)
  UNION ALL SELECT (SELECT x.%[2]s FROM %[1]s AS x WHERE x.%[2]s > w.v AND %[3]s ORDER BY x.%[2]s LIMIT 1), w.n + 1 FROM w WHERE w.v IS NOT NULL AND w.n < %[4]d)
SELECT w.v FROM w WHERE w.v IS NOT NULL)`, table, column, condition, most)
}

// eventsTold finds the events of the inbox that are about one of the words $1, as object
// or as their own id: by fsm_inbox_change_key and fsm_inbox_event_key.
var eventsTold = `SELECT i.id FROM fsm_inbox AS i WHERE i.provider = ANY (ARRAY` + loose("fsm_inbox", "provider", maxProviders) + `) AND i.object = ANY ($1::text[]) AND i.object <> ''
UNION SELECT i.id FROM fsm_inbox AS i WHERE i.provider = ANY (ARRAY` + loose("fsm_inbox", "provider", maxProviders) + `) AND i.event_id = ANY ($1::text[])
LIMIT 200`

// deliveriesOf finds the deliveries that speak of the row.
func (l lifecycle) deliveriesOf(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	deliveries, err := found.readable("fsm_deliveries", deliveryColumns...)
	if deliveries == nil || err != nil {
		return err
	}
	if _, err := found.needed("fsm_inbox", inboxColumns...); err != nil {
		return err
	}
	life.Inbox = true
	rows, err := tx.Query(ctx, eventsTold, l.words(life))
	if err != nil {
		return err
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(events) == 0 {
		return err
	}
	life.Deliveries, err = delivered(ctx, tx, told+fmt.Sprintf(`FROM (SELECT f.id, f.provider, f.message_id, f.received_at, f.events, f.verdicts FROM fsm_deliveries AS f WHERE f.events && $1::bigint[] ORDER BY f.id LIMIT %d) AS d
CROSS JOIN LATERAL (SELECT e.event, COALESCE(d.verdicts[e.place], 'interrupted') AS verdict FROM unnest(d.events) WITH ORDINALITY AS e(event, place) WHERE e.event = ANY ($1::bigint[])) AS v
JOIN fsm_inbox AS i ON i.id = v.event ORDER BY d.received_at, d.id`, maxEntries), events)
	return err
}

// Message is what a transition wrote into the outbox.
type Message struct {
	ID      int64
	Version int64
	Event   string
	Topic   string
	At      time.Time
	// Where is one of the words below, and Since when it has been so.
	Where string
	Since *time.Time
}

// Where messages are. Those that nobody knows of any more were sent, or taken by others.
const (
	Waits = "waiting"
	Sent  = "sent"
	Aside = "aside"
)

// Hold is what holds up the messages of a row.
type Hold struct {
	Tries int32
	Error string
	Since time.Time
	// Next is nil where a person has to decide.
	Next *time.Time
}

// sentRows bound how far the messages that were sent are searched: they have an index
// on the time alone.
const sentRows = 500

// messagesOf finds the row's messages in the outbox, by the relay's index on the key,
// among those set aside, and among those that were sent soon after the last entries.
func (l lifecycle) messagesOf(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	columns := []string{"id", "machine", "key", "version", "event", "topic", "at"}
	outbox, err := found.readable("fsm_outbox", columns...)
	if outbox == nil || err != nil || !outbox.lead("machine") {
		return err
	}
	life.Outbox = true
	messages, err := all[Message](ctx, tx, fmt.Sprintf(`SELECT o.id, o.version, o.event, o.topic, o.at, '%s', NULL::timestamptz FROM fsm_outbox AS o
WHERE o.machine = $1 AND o.key = $2 ORDER BY o.id LIMIT %d`, Waits, maxEntries), l.Name, life.KeyText)
	if err != nil {
		return err
	}
	life.Messages = messages
	if holds, err := found.readable("fsm_outbox_holds", "machine", "key", "tries", "error", "since", "next_at"); err != nil {
		return err
	} else if holds != nil {
		rows, err := all[Hold](ctx, tx, "SELECT h.tries, left(h.error, 500), h.since, h.next_at FROM fsm_outbox_holds AS h WHERE h.machine = $1 AND h.key = $2", l.Name, life.KeyText)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			life.Hold = &rows[0]
		}
	}
	if aside, err := found.readable("fsm_outbox_aside", append(columns, "aside_at")...); err != nil {
		return err
	} else if aside != nil {
		messages, err := all[Message](ctx, tx, fmt.Sprintf(`SELECT o.id, o.version, o.event, o.topic, o.at, '%s', o.aside_at FROM (SELECT a.id, a.machine, a.key, a.version, a.event, a.topic, a.at, a.aside_at FROM fsm_outbox_aside AS a ORDER BY a.id DESC LIMIT %d) AS o
WHERE o.machine = $1 AND o.key = $2 ORDER BY o.id`, Aside, 2*sentRows), l.Name, life.KeyText)
		if err != nil {
			return err
		}
		life.Messages = append(life.Messages, messages...)
	}
	sent, err := found.readable("fsm_outbox_sent", append(columns, "sent_at")...)
	if sent == nil || err != nil {
		return err
	}
	times := make([]time.Time, 0, 8)
	for _, e := range life.Entries[max(0, len(life.Entries)-cap(times)):] {
		times = append(times, e.At)
	}
	// fsm_outbox_sent_sent_at_idx
	messages, err = all[Message](ctx, tx, fmt.Sprintf(`SELECT DISTINCT ON (o.id) o.id, o.version, o.event, o.topic, o.at, '%s', o.sent_at FROM unnest($3::timestamptz[]) AS e(at)
CROSS JOIN LATERAL (SELECT s.id, s.machine, s.key, s.version, s.event, s.topic, s.at, s.sent_at FROM fsm_outbox_sent AS s WHERE s.sent_at >= e.at ORDER BY s.sent_at, s.id LIMIT %d) AS o WHERE o.machine = $1 AND o.key = $2 ORDER BY o.id`,
		Sent, sentRows), l.Name, life.KeyText, times)
	life.Messages = append(life.Messages, messages...)
	return err
}

// Attempt is a call to a provider under a business key that is a word of the row.
type Attempt struct {
	Kind, BusinessKey, State, Code, LastError string
	Sends                                     int32
	CreatedAt                                 time.Time
	// AnsweredAt, CompletedAt and StuckAt are nil until then; Due is the next round, nil
	// where there is none.
	AnsweredAt, CompletedAt, StuckAt, Due *time.Time
}

func (l lifecycle) attemptsOf(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	keys, err := found.readable("fsm_attempt_keys", "kind", "business_key", "attempt_id")
	if keys == nil || err != nil {
		return err
	}
	if _, err := found.needed("fsm_attempts", "id", "kind", "business_key", "state", "code", "last_error", "sends", "created_at", "answered_at", "completed_at", "stuck_at", "due"); err != nil {
		return err
	}
	life.Attempts, err = all[Attempt](ctx, tx, `SELECT a.kind, a.business_key, a.state, a.code, left(a.last_error, 500), a.sends, a.created_at, a.answered_at, a.completed_at, a.stuck_at, a.due
FROM (SELECT k.attempt_id FROM fsm_attempt_keys AS k WHERE k.kind = ANY (ARRAY`+loose("fsm_attempt_keys", "kind", maxProviders)+`) AND k.business_key = ANY ($1::text[]) LIMIT 50) AS k
JOIN fsm_attempts AS a ON a.id = k.attempt_id ORDER BY a.created_at, a.id`, l.words(life))
	return err
}
