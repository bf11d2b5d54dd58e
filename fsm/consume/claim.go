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

// claimSQL claims the keys that are new, have failed, or whose lease has ended, and
// counts the try, which is committed before the work begins: so a process that dies
// in it has tried. Rows are locked in the order of the keys given, by every claim the
// same. A row that was just swept is new.
const claimSQL = `
INSERT INTO fsm_consumed AS c (consumer, key, state, owner, tries, lease_until, changed_at)
SELECT $1, k.key, 'claimed', $3, 1, clock_timestamp() + $4::interval, clock_timestamp()
FROM unnest($2::text[]) AS k (key)
ON CONFLICT (consumer, key) DO UPDATE
SET state = 'claimed', owner = excluded.owner, tries = c.tries + 1,
    lease_until = clock_timestamp() + $4::interval, changed_at = clock_timestamp()
WHERE c.tries < $5
  AND (c.state = 'failed' OR c.state = 'claimed' AND c.lease_until <= clock_timestamp())
RETURNING c.key, c.tries`

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

// claim claims what is free, gives the others their result, and returns the jobs
// claimed, with the owner that they are claimed by.
func (c *Consumer) claim(ctx context.Context, jobs []*job) (mine []*job, owner string) {
	if len(jobs) == 0 {
		return nil, ""
	}
	owner = rand.Text()
	tries, err := c.take(ctx, keysOf(jobs), owner)
	if err != nil {
		for _, j := range jobs {
			j.Result = Result{Failed, told("claim", err)}
		}
		// The claim may be there although its answer is not.
		c.letGo(ctx, keysOf(jobs), owner)
		return nil, ""
	}
	var others []*job
	for _, j := range jobs {
		if n, ok := tries[j.Key]; ok {
			j.try = n
			mine = append(mine, j)
		} else {
			others = append(others, j)
		}
	}
	c.judge(ctx, others)
	return mine, owner
}

// take runs claimSQL and returns the count of tries of each key claimed.
func (c *Consumer) take(ctx context.Context, keys []string, owner string) (tries map[string]int, err error) {
	slices.Sort(keys)
	for range statementTries {
		tries = make(map[string]int, len(keys))
		rows, _ := c.DB.Query(ctx, claimSQL, c.Name, keys, owner, c.Lease, c.Tries)
		var key string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&key, &n}, func() error {
			tries[key] = n
			return nil
		})
		if !fsm.Retryable(err) {
			break
		}
	}
	return tries, err
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

// judge gives the jobs whose key was not free their result.
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
		j.Result = c.judged(ctx, j, rows[j.Key])
	}
}

// judged is the result of a job whose key has the row r; the zero row for none.
func (c *Consumer) judged(ctx context.Context, j *job, r row) Result {
	switch {
	case r.state == stateDone:
		return Result{Outcome: Duplicate}
	case r.state == stateDead && !r.orphaned:
		return Result{Dead, ErrDead}
	case r.state == stateDead:
		j.Err = errOrphaned
		return c.giveUp(ctx, j)
	case r.state == stateFailed && r.tries >= c.Tries, r.state == stateClaimed && !r.held && r.tries >= c.Tries:
		return c.giveUp(ctx, j)
	}
	return Result{InProgress, ErrInProgress}
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
