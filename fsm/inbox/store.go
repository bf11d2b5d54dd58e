package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// delivery is what came over the wire.
type delivery struct {
	signed webhook.Delivery
	header http.Header
	body   []byte
}

// claim is an event that this call owns until its lease ends.
type claim struct {
	id       int64
	owner    string
	attempts int
	event    Event
	position int // in the delivery
}

const (
	insertDelivery = `INSERT INTO fsm_deliveries (provider, message_id, signed_at, headers, digest)
VALUES ($1, $2, $3, $4::text::jsonb, $5) RETURNING fsm_deliveries.id`

	// A new event is claimed as it is stored. The statement waits for another
	// transaction that inserts the same one.
	insertEvent = `INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, owner, due_at, gives_up_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'received', $8, clock_timestamp() + $9::interval, clock_timestamp() + $10::interval)
ON CONFLICT DO NOTHING RETURNING fsm_inbox.id`

	// A statement of its own: the insert's snapshot does not have the winner's row.
	findEvent = `SELECT f.id, f.state, f.agrees FROM (
  SELECT i.id, i.state, 1 AS rank, (i.object, i.status, i.fingerprint) = ($3, $4, $5) AS agrees
  FROM fsm_inbox i WHERE i.provider = $1 AND i.event_id = $2
  UNION ALL
  SELECT i.id, i.state, 2, true
  FROM fsm_inbox i WHERE i.provider = $1 AND i.object = $3 AND i.status = $4 AND i.fingerprint = $5 AND i.object <> ''
) f ORDER BY f.rank LIMIT 1`

	// An event in another's hands is let be, whether its lease is live or its
	// transaction is under way. Ended ones are never set back.
	takeOver = `UPDATE fsm_inbox i SET state = 'received', owner = $2, due_at = clock_timestamp() + $3::interval, attempts = i.attempts + 1
WHERE i.id = (SELECT k.id FROM fsm_inbox k
  WHERE k.id = $1 AND (k.state = 'parked' OR k.state = 'received' AND k.due_at <= clock_timestamp())
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING i.attempts`

	finishDelivery = `UPDATE fsm_deliveries d SET events = $2, body = $3 WHERE d.id = $1`
)

// store is the first transaction: the delivery and its events, each new, taken
// over, or known. The body is kept where something in it is news.
func (i *Inbox) store(ctx context.Context, p *Provider, d delivery, events []Event) (Receipt, []claim, error) {
	var (
		r      Receipt
		claims []claim
	)
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		r, claims = Receipt{Told: make([]Told, len(events))}, nil
		digest := sha256.Sum256(d.body)
		row := tx.QueryRow(ctx, insertDelivery, p.Name, d.signed.ID, stampOf(d.signed), p.kept(d.header), digest[:])
		if err := row.Scan(&r.Delivery); err != nil {
			return err
		}
		ids, news := make([]int64, len(events)), false
		for _, n := range ordered(events) {
			told, c, fresh, err := i.storeEvent(ctx, tx, r.Delivery, events[n])
			if err != nil {
				return err
			}
			r.Told[n], ids[n] = told, told.Event
			news = news || fresh || told.Verdict == VerdictConflict
			if c != nil {
				c.position = n
				claims = append(claims, *c)
			}
		}
		body := d.body
		if !news {
			body = nil
		}
		_, err := tx.Exec(ctx, finishDelivery, r.Delivery, ids, body)
		return err
	})
	slices.SortFunc(claims, func(a, b claim) int { return a.position - b.position })
	return r, claims, stored("receive", err)
}

// ordered are the positions of the events in the order of their IDs: two
// deliveries of the same events must not wait for each other.
func ordered(events []Event) []int {
	positions := make([]int, len(events))
	for n := range positions {
		positions[n] = n
	}
	slices.SortStableFunc(positions, func(a, b int) int { return strings.Compare(events[a].ID, events[b].ID) })
	return positions
}

// storeEvent inserts or finds one event, and tells whether it is new.
func (i *Inbox) storeEvent(ctx context.Context, tx pgx.Tx, delivery int64, e Event) (Told, *claim, bool, error) {
	told := Told{Provider: e.Provider, ID: e.ID, State: Received}
	owner := newOwner()
	err := tx.QueryRow(ctx, insertEvent, e.Provider, e.ID, e.Type, e.Object, e.Status, e.Fingerprint, delivery,
		owner, i.Lease, i.GiveUpAfter).Scan(&told.Event)
	if err == nil {
		return told, &claim{id: told.Event, owner: owner, attempts: 1, event: e}, true, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return told, nil, false, err
	}
	var agrees bool
	err = tx.QueryRow(ctx, findEvent, e.Provider, e.ID, e.Object, e.Status, e.Fingerprint).Scan(&told.Event, &told.State, &agrees)
	if errors.Is(err, pgx.ErrNoRows) {
		return told, nil, false, fsm.ErrContended // it was swept in between: once more
	}
	switch {
	case err != nil:
		return told, nil, false, err
	case !agrees:
		told.Verdict, told.Reason = VerdictConflict, "the event was told before, and said something else"
		return told, nil, false, nil
	case told.State != Received && told.State != Parked:
		told.Verdict = VerdictDuplicate
		return told, nil, false, nil
	}
	c := claim{id: told.Event, owner: owner, event: e}
	switch err := tx.QueryRow(ctx, takeOver, c.id, owner, i.Lease).Scan(&c.attempts); {
	case errors.Is(err, pgx.ErrNoRows):
		told.Verdict = VerdictRunning
		return told, nil, false, nil
	case err != nil:
		return told, nil, false, err
	}
	told.State = Received
	return told, &c, false, nil
}

// The body of an unreadable delivery is kept once, however often it comes.
const insertUnreadable = `INSERT INTO fsm_deliveries (provider, message_id, signed_at, headers, digest, body, verdicts, recorded_at)
SELECT $1, $2, $3, $4::text::jsonb, $5, CASE WHEN EXISTS (
  SELECT 1 FROM fsm_deliveries d WHERE d.provider = $1 AND d.digest = $5 AND d.verdicts = '{unreadable}'
) THEN NULL ELSE $6::bytea END, '{unreadable}', now()
RETURNING fsm_deliveries.id`

func (i *Inbox) storeUnreadable(ctx context.Context, p *Provider, d delivery) (id int64, err error) {
	digest := sha256.Sum256(d.body)
	err = i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, insertUnreadable, p.Name, d.signed.ID, stampOf(d.signed), p.kept(d.header), digest[:], d.body).Scan(&id)
	})
	return id, stored("receive", err)
}

// stampOf is when the delivery was signed, nil where the scheme does not say.
func stampOf(d webhook.Delivery) *time.Time {
	if d.Timestamp.IsZero() {
		return nil
	}
	return &d.Timestamp
}

// maxHeader bounds a stored header's value, in bytes.
const maxHeader = 1024

// kept are the headers that are stored: those of the list, as valid UTF-8
// without NUL, cut.
func (p *Provider) kept(header http.Header) string {
	kept := map[string]string{}
	for _, name := range p.Headers {
		value := header.Get(name)
		if value == "" {
			continue
		}
		if len(value) > maxHeader {
			value = value[:maxHeader]
		}
		kept[http.CanonicalHeaderKey(name)] = strings.ReplaceAll(strings.ToValidUTF8(value, "?"), "\x00", "?")
	}
	text, _ := json.Marshal(kept) // texts always encode
	return string(text)
}
