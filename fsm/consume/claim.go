package consume

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// The states of a row of fsm_consumed.
const (
	stateClaimed = "claimed"
	stateFailed  = "failed"
	stateDone    = "done"
	stateDead    = "dead"
)

// claimSQL claims a key that is new, has failed, or whose lease has ended, and counts
// the try, which is committed before the work begins: so a process that dies in it has
// tried. A row that was just swept is new.
const claimSQL = `
INSERT INTO fsm_consumed AS c (consumer, key, state, owner, tries, lease_until, changed_at)
VALUES ($1, $2, 'claimed', $3, 1, clock_timestamp() + $4::interval, clock_timestamp())
ON CONFLICT (consumer, key) DO UPDATE
SET state = 'claimed', owner = excluded.owner, tries = c.tries + 1,
    lease_until = clock_timestamp() + $4::interval, changed_at = clock_timestamp()
WHERE c.tries < $5
  AND (c.state = 'failed' OR c.state = 'claimed' AND c.lease_until <= clock_timestamp())
RETURNING c.tries`

// shareSQL claims the keys of a batch that were never tried, and counts nothing, since
// nobody knows yet which of them is run when a process dies. What such a claim leaves
// behind, a lease that has ended, is not shared again. Rows are locked in the order of
// the keys given, by every claim the same.
const shareSQL = `
INSERT INTO fsm_consumed AS c (consumer, key, state, owner, tries, lease_until, changed_at)
SELECT $1, k.key, 'claimed', $3, 0, clock_timestamp() + $4::interval, clock_timestamp()
FROM unnest($2::text[]) AS k (key)
ON CONFLICT (consumer, key) DO UPDATE
SET state = 'claimed', owner = excluded.owner,
    lease_until = clock_timestamp() + $4::interval, changed_at = clock_timestamp()
WHERE c.tries = 0 AND c.state = 'failed'
RETURNING c.key`

// rowsSQL reads what the claim did not get, in a later statement, which sees it. A
// key is orphaned when it is dead and its letter was deleted, by hand say.
const rowsSQL = `
SELECT c.key, c.state, c.owner, c.tries, c.lease_until > clock_timestamp(),
  CASE WHEN c.state = 'dead' THEN NOT EXISTS (
    SELECT FROM fsm_dead_letters AS d WHERE d.consumer = c.consumer AND d.key = c.key AND d.settled = ''
  ) ELSE false END
FROM fsm_consumed AS c
WHERE c.consumer = $1 AND c.key = ANY ($2)`

// row is what rowsSQL reads of one key.
type row struct {
	key, state, owner string
	tries             int
	held, orphaned    bool
}

// statementTries is how often one statement is tried where the database says that
// it may be: two batches that met, or a default isolation above READ COMMITTED.
const statementTries = 5

// claim claims the job's key for it alone and reports whether it could; otherwise the
// job has its result.
func (c *Consumer) claim(ctx context.Context, j *job) bool {
	j.owner = rand.Text()
	tries, err := take(ctx, c.DB, pgx.RowTo[int], claimSQL, c.Name, j.Key, j.owner, c.Lease, c.Tries)
	switch {
	case err != nil:
		c.unclaimed(ctx, []*job{j}, err)
	case len(tries) == 1:
		j.try = tries[0]
		return true
	default:
		c.judge(ctx, []*job{j})
		if j.Outcome == "" { // it was given back since the claim
			j.Result = Result{InProgress, ErrInProgress}
		}
	}
	return false
}

// claimShared claims the keys that were never tried, and returns their jobs. Those that
// are left to claims of their own have no result yet.
func (c *Consumer) claimShared(ctx context.Context, jobs []*job) (mine []*job) {
	owner, keys := rand.Text(), keysOf(jobs)
	slices.Sort(keys)
	for _, j := range jobs {
		j.owner = owner
	}
	got, err := take(ctx, c.DB, pgx.RowTo[string], shareSQL, c.Name, keys, owner, c.Lease)
	if err != nil {
		c.unclaimed(ctx, jobs, err)
		return nil
	}
	var others []*job
	for _, j := range jobs {
		if slices.Contains(got, j.Key) {
			mine = append(mine, j)
		} else {
			others = append(others, j)
		}
	}
	c.judge(ctx, others)
	return mine
}

// take runs a claim, again where the database says that it may be.
func take[T any](ctx context.Context, db DB, to pgx.RowToFunc[T], sql string, args ...any) (got []T, err error) {
	for range statementTries {
		rows, _ := db.Query(ctx, sql, args...)
		if got, err = pgx.CollectRows(rows, to); !fsm.Retryable(err) {
			break
		}
	}
	return got, err
}

// unclaimed gives jobs whose claim failed their result. The claim may be there although
// its answer is not, so it is released; where that fails too, its lease ends.
func (c *Consumer) unclaimed(ctx context.Context, jobs []*job, err error) {
	for _, j := range jobs {
		j.Result = Result{Failed, told("claim", err)}
	}
	ctx, cancel := detach(ctx)
	defer cancel()
	_, _ = c.release(ctx, keysOf(jobs), jobs[0].owner, false) // the claim's own error is told
}

// read returns the rows of the keys that have one.
func (c *Consumer) read(ctx context.Context, keys []string) (map[string]row, error) {
	rows, _ := c.DB.Query(ctx, rowsSQL, c.Name, keys)
	found := make(map[string]row, len(keys))
	var r row
	_, err := pgx.ForEachRow(rows, []any{&r.key, &r.state, &r.owner, &r.tries, &r.held, &r.orphaned}, func() error {
		found[r.key] = r
		return nil
	})
	return found, err
}

// judge gives the jobs whose key cannot be claimed their result.
func (c *Consumer) judge(ctx context.Context, jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	rows, err := c.read(ctx, keysOf(jobs))
	for _, j := range jobs {
		if err != nil {
			j.Result = Result{Failed, told("read claim", err)}
			continue
		}
		j.before = rows[j.Key].tries
		j.Result = c.judged(ctx, j, rows[j.Key])
	}
}

// judged is the result of a job whose key has the row r, the zero row for none; and the
// zero Result where the key can be claimed.
func (c *Consumer) judged(ctx context.Context, j *job, r row) Result {
	switch {
	case r.state == stateDone:
		return Result{Outcome: Duplicate}
	case r.state == stateDead && !r.orphaned:
		return Result{Dead, ErrDead}
	case r.state == stateDead:
		j.Err = errOrphaned
		return c.giveUp(ctx, j)
	case r.state == stateClaimed && r.held:
		return Result{InProgress, ErrInProgress}
	case r.tries >= c.Tries:
		return c.giveUp(ctx, j)
	}
	return Result{}
}

// detached bounds what is done after the caller's context has ended.
const detached = 5 * time.Second

// detach returns a context that does not end with ctx.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), detached)
}

// clean makes a text one that PostgreSQL takes, of at most limit bytes.
func clean(text string, limit int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}
