package relay

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// batch is what one transaction has locked.
type batch struct {
	// runs holds the rows of one key each, in the order of their ids.
	runs []run
	// more says that there may be further work just now.
	more bool
	// behind holds ids of rows that wait behind the first row of a held key, and
	// do not say so yet.
	behind []int64
}

// run is the rows of one key, which this transaction alone may deliver.
type run struct {
	messages []Message
	// hold is the id of the key's hold, 0 where it has none, and tries how often
	// its first message was tried already.
	hold  int64
	tries int
}

// claimFresh locks the first rows of keys among a page of free rows, and returns
// the page: $1 is the id after which it begins, $2 its length.
//
// A row is locked when it is the first of its key in this statement's snapshot.
// Was it delivered or held up by another relay since, then it is gone, or its
// hold is set: both are seen when the lock is taken, and the row is passed over.
// So in what is locked nothing has changed since the snapshot, and the rows behind
// it may be read in it too: up to the first that is held, where the key's first row
// was put back in front of that.
const claimFresh = `WITH page AS MATERIALIZED (
  SELECT o.id, o.machine, o.key
  FROM fsm_outbox AS o
  WHERE o.hold IS NULL AND o.id > $1::bigint
  ORDER BY o.id LIMIT $2::integer
), head AS MATERIALIZED (
  SELECT o.id, o.machine, o.key
  FROM (SELECT min(p.id) AS id FROM page AS p GROUP BY p.machine, p.key) AS f
  JOIN fsm_outbox AS o ON o.id = f.id
  WHERE o.hold IS NULL
    AND NOT EXISTS (SELECT FROM fsm_outbox AS e WHERE e.machine = o.machine AND e.key = o.key AND e.id < o.id)
  FOR UPDATE OF o SKIP LOCKED
), run AS (
  SELECT h.id, h.machine, h.key,
         (SELECT min(w.id) FROM fsm_outbox_holds AS b JOIN fsm_outbox AS w ON w.hold = b.id
          WHERE b.machine = h.machine AND b.key = h.key) AS held
  FROM head AS h
)
SELECT p.id, h.id IS NOT NULL,
       h.id IS NULL AND EXISTS (SELECT FROM fsm_outbox_holds AS b WHERE b.machine = p.machine AND b.key = p.key),
       p.machine, p.key, COALESCE(o.version, 0), COALESCE(o.event, ''), COALESCE(o.topic, ''), COALESCE(o.payload::text, ''),
       COALESCE(o.at, '-infinity'::timestamptz)
FROM page AS p
LEFT JOIN run AS h ON h.machine = p.machine AND h.key = p.key AND (h.held IS NULL OR p.id < h.held)
LEFT JOIN fsm_outbox AS o ON o.id = p.id AND h.id IS NOT NULL
ORDER BY p.id`

// takeFresh locks free rows, the oldest first, up to a batch. Keys that others
// deliver are passed over, and then the page after is looked at.
func (r *Relay) takeFresh(ctx context.Context, tx pgx.Tx) (batch, error) {
	var b batch
	c := collector{of: map[keyOf]int{}}
	after, page := int64(0), r.batch()
	for c.rows < r.batch() {
		n, mine := 0, c.rows
		rows, err := tx.Query(ctx, claimFresh, after, page)
		if err != nil {
			return batch{}, told("lock what waits", err)
		}
		var ours, behind bool
		var m Message
		var payload string
		_, err = pgx.ForEachRow(rows, []any{
			&m.Row, &ours, &behind, &m.Machine, &m.Key, &m.Version, &m.Event, &m.Topic, &payload, (*instant)(&m.At),
		}, func() error {
			n, after = n+1, m.Row
			switch {
			case ours:
				m.Payload = []byte(payload)
				c.add(m, 0, 0)
			case behind:
				b.behind = append(b.behind, m.Row)
			}
			return nil
		})
		if err != nil {
			return batch{}, told("lock what waits", err)
		}
		if n < page {
			break
		}
		if b.more = c.rows > 0; c.rows == mine {
			page = min(2*page, maxBatch) // all in other hands: look further at once
		}
	}
	b.runs = c.runs
	return b, nil
}

// claimDue locks the holds that are due: $1 is how many.
const claimDue = `SELECT h.id, h.tries
FROM fsm_outbox_holds AS h
WHERE h.next_at <= now()
ORDER BY h.next_at LIMIT $1::integer
FOR NO KEY UPDATE SKIP LOCKED`

// claimHeld locks the first rows of the keys of the holds $1 and returns these
// and the rows behind them, at most $2 of a key. It is a statement of its own,
// since what another relay did with the key is committed with its hold: a snapshot
// from before the hold was locked may not show it.
const claimHeld = `WITH page AS MATERIALIZED (
  SELECT h.id AS hold, o.id
  FROM fsm_outbox_holds AS h
  CROSS JOIN LATERAL (
    SELECT o.id FROM fsm_outbox AS o WHERE o.machine = h.machine AND o.key = h.key ORDER BY o.id LIMIT $2::integer
  ) AS o
  WHERE h.id = ANY ($1::bigint[])
), head AS MATERIALIZED (
  SELECT o.id, f.hold
  FROM (SELECT p.hold, min(p.id) AS id FROM page AS p GROUP BY p.hold) AS f
  JOIN fsm_outbox AS o ON o.id = f.id
  FOR UPDATE OF o SKIP LOCKED
)
SELECT h.hold, o.id, o.machine, o.key, o.version, o.event, o.topic, o.payload::text, o.at
FROM head AS h
JOIN page AS p ON p.hold = h.hold
JOIN fsm_outbox AS o ON o.id = p.id
ORDER BY o.id`

// takeDue locks the keys whose holds are due, and up to a batch of rows of them.
// A hold of which no row is left comes with an empty run.
func (r *Relay) takeDue(ctx context.Context, tx pgx.Tx) (batch, error) {
	rows, err := tx.Query(ctx, claimDue, r.batch())
	if err != nil {
		return batch{}, told("lock what is due", err)
	}
	var holds []int64
	tries := map[int64]int{}
	var id int64
	var tried int
	if _, err := pgx.ForEachRow(rows, []any{&id, &tried}, func() error {
		holds, tries[id] = append(holds, id), tried
		return nil
	}); err != nil {
		return batch{}, told("lock what is due", err)
	}
	if len(holds) == 0 {
		return batch{}, nil
	}
	rows, err = tx.Query(ctx, claimHeld, holds, r.batch()/len(holds))
	if err != nil {
		return batch{}, told("lock what is held", err)
	}
	c := collector{of: map[keyOf]int{}}
	var m Message
	var payload string
	if _, err := pgx.ForEachRow(rows, []any{
		&id, &m.Row, &m.Machine, &m.Key, &m.Version, &m.Event, &m.Topic, &payload, (*instant)(&m.At),
	}, func() error {
		m.Payload = []byte(payload)
		c.add(m, id, tries[id])
		return nil
	}); err != nil {
		return batch{}, told("lock what is held", err)
	}
	b := batch{runs: c.runs, more: c.rows > 0}
	for _, h := range holds {
		if !c.has(h) {
			b.runs = append(b.runs, run{hold: h})
		}
	}
	return b, nil
}

// collector parts rows by their keys, in the order in which keys are first met.
type collector struct {
	runs []run
	of   map[keyOf]int
	rows int
}

type keyOf struct{ machine, key string }

func (c *collector) add(m Message, hold int64, tries int) {
	k := keyOf{m.Machine, m.Key}
	i, known := c.of[k]
	if !known {
		i = len(c.runs)
		c.of[k] = i
		c.runs = append(c.runs, run{hold: hold, tries: tries})
	}
	m.ID = m.Identify()
	c.runs[i].messages = append(c.runs[i].messages, m)
	c.rows++
}

func (c *collector) has(hold int64) bool {
	for _, r := range c.runs {
		if r.hold == hold {
			return true
		}
	}
	return false
}
