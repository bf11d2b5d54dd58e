package command

import (
	"context"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// defaultPage is how many records one statement of a sweep looks at.
const defaultPage = 1000

// sweepSQL looks at one page of records in the order of their creation, and moves
// those to the archive whose time is over. Younger ones than the retention are not
// looked at: nothing about a record is older than its creation. A page is counted
// before its rows are judged, so that rows to keep never hide what is behind them.
//
// Whoever works in a transaction holds the row's lock, and is passed over. Whoever
// claims between the look and the lock has changed the row, and it is judged again
// on the locked version: nothing that is claimed, or has just got its reply, goes.
const sweepSQL = `
WITH page AS (
	SELECT c.id, c.created_at FROM fsm_command c
	WHERE c.command = $1 AND c.created_at < now() - $2::bigint * interval '1 microsecond'
		AND (c.created_at, c.id) > ($3, $4)
	ORDER BY c.created_at, c.id
	LIMIT $5
), old AS (
	SELECT c.* FROM fsm_command c JOIN page ON page.id = c.id
	WHERE coalesce(c.done_at, greatest(c.claimed_at, c.lease_until)) < now() - $2::bigint * interval '1 microsecond'
	FOR UPDATE OF c SKIP LOCKED
), archived AS (
	INSERT INTO fsm_command_archive (id, scope, command, key, algorithm, fingerprint, fence,
		created_at, claimed_at, done_at, status, headers, body, archived_at)
	SELECT old.id, old.scope, old.command, old.key, old.algorithm, old.fingerprint, old.fence,
		old.created_at, old.claimed_at, old.done_at, old.status, old.headers, old.body, now()
	FROM old
	RETURNING id
), gone AS (
	DELETE FROM fsm_command c USING archived WHERE c.id = archived.id
	RETURNING c.id
)
SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM gone), last.created_at, last.id
FROM (SELECT page.created_at, page.id FROM page
	UNION ALL SELECT $3, $4
	ORDER BY 1 DESC, 2 DESC LIMIT 1) AS last`

// Sweep moves this command's records whose retention is over into
// fsm_command_archive, and returns how many; their keys are free then. Each
// statement looks at one page, of 1,000 records when page is 0 or less, and on a
// pool commits by itself. Many sweeps may run at once, and beside calls. What is
// locked, claimed or young stays for a later sweep. On an error, what was moved
// before it counts.
func (c *Command) Sweep(ctx context.Context, db fsm.DB, page int) (moved int, err error) {
	if err := c.Check(); err != nil {
		return 0, c.wrap(nil, err)
	}
	if err := c.need(db != nil); err != nil {
		return 0, err
	}
	if page <= 0 {
		page = defaultPage
	}
	var after time.Time
	var id int64
	for {
		var seen, gone int
		err := db.QueryRow(ctx, sweepSQL, c.Name, c.retention().Microseconds(), after, id, page).
			Scan(&seen, &gone, &after, &id)
		if err != nil {
			return moved, c.own("sweep", err)
		}
		moved += gone
		if seen < page {
			return moved, nil
		}
	}
}
