package attempt

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// ErrNotStuck says that an attempt does not wait for a person. Nothing was done.
var ErrNotStuck = errors.New("the attempt does not wait for a person")

// auditSQL ends both statements: who did it, and why, is written with the change.
const auditSQL = `, noted AS (
  INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at)
  SELECT 'attempt ' || moved.kind, moved.id::text, moved.fence, $2, locked.state, moved.state, $3, $4, clock_timestamp()
  FROM moved
  JOIN locked ON locked.id = moved.id
)
SELECT moved.fence FROM moved`

const lockStuckSQL = `WITH locked AS (
  SELECT a.id, a.state FROM fsm_attempts AS a WHERE a.id = $1 AND a.stuck_at IS NOT NULL FOR NO KEY UPDATE
), moved AS (
  UPDATE fsm_attempts AS a
  SET stuck_at = NULL, due = clock_timestamp(), rounds = 0, fence = a.fence + 1`

const resumeSQL = lockStuckSQL + `
  FROM locked
  WHERE a.id = locked.id
  RETURNING a.id, a.kind, a.fence, a.state
)` + auditSQL

const settleSQL = lockStuckSQL + `, state = $5, ref = $6, result = $7::json, code = $8, answered_at = clock_timestamp()
  FROM locked
  WHERE a.id = locked.id AND locked.state NOT IN ('SUCCEEDED', 'REFUSED')
  RETURNING a.id, a.kind, a.fence, a.state
)` + auditSQL

// Resume makes a stuck attempt due again, with all its rounds before it, and
// writes an audit row. It changes nothing about what may be sent: a call that may
// have been done is still looked up first, and not sent after Policy.ResendFor.
// ErrNotStuck, ErrNotFound; ErrArgument without an actor and a reason.
func Resume(ctx context.Context, db fsm.DB, id string, by fsm.Correction) error {
	return repair(ctx, db, resumeSQL, id, "resume", by)
}

// Settle records the outcome of a stuck attempt that a person learnt in another
// way, by asking the provider, and writes an audit row. state is Succeeded, with
// the result, or Refused, with a code. The next round completes it. ErrNotStuck
// for an attempt that is not stuck, or has an answer already; ErrNotFound;
// ErrArgument.
func Settle(ctx context.Context, db fsm.DB, id string, state State, result Result, code string, by fsm.Correction) error {
	if !state.Answered() {
		return fmt.Errorf("%w: an attempt is settled as succeeded or refused", ErrArgument)
	}
	clean := result.storable()
	if clean.Ref != result.Ref || len(clean.Data) != len(result.Data) || clip(code, maxCode) != code {
		return fmt.Errorf("%w: the result or the code cannot be kept as it is", ErrArgument)
	}
	if state == Refused && (clean.Ref != "" || clean.Data != nil) || state == Succeeded && code != "" {
		return fmt.Errorf("%w: a success has a result and a refusal a code", ErrArgument)
	}
	var data *string
	if clean.Data != nil {
		text := string(clean.Data)
		data = &text
	}
	return repair(ctx, db, settleSQL, id, "settle", by, state, clean.Ref, data, code)
}

func repair(ctx context.Context, db fsm.DB, sql, id, action string, by fsm.Correction, more ...any) error {
	if err := by.Check(&fsm.EventInfo{Machine: "attempt", Event: action}); err != nil {
		return err
	}
	err := errors.Join(idOK(id), textOK("the actor", by.Actor, maxError), textOK("the reason", by.Reason, 10*maxError))
	if err != nil {
		return err
	}
	var fence int64
	err = alone.Run(ctx, db, func(ctx context.Context, db fsm.DB) error {
		return db.QueryRow(ctx, sql, append([]any{id, action, by.Actor, by.Reason}, more...)...).Scan(&fence)
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return dbError(action, err)
	}
	if _, err := Get(ctx, db, id); err != nil {
		return err
	}
	return ErrNotStuck
}

// StuckPage lists attempts of a kind that wait for a person, oldest first, those
// behind the given one; a zero Attempt for the first page. At most 1,000; none
// when there are no more.
func StuckPage(ctx context.Context, db fsm.DB, kind string, behind Attempt, limit int) ([]Attempt, error) {
	const stuckSQL = `SELECT ` + selected + `
FROM fsm_attempts AS a
WHERE a.kind = $1 AND a.stuck_at IS NOT NULL
  AND ($2::timestamptz IS NULL OR (a.stuck_at, a.id) > ($2, $3::uuid))
ORDER BY a.stuck_at, a.id
LIMIT $4`
	var id *string
	if behind.ID != "" {
		id = &behind.ID
	}
	rows, err := db.Query(ctx, stuckSQL, kind, behind.StuckAt, id, min(positive(limit, 100), 1000))
	if err != nil {
		return nil, dbError("list", err)
	}
	defer rows.Close()
	var page []Attempt
	for rows.Next() {
		a, err := scan(rows)
		if err != nil {
			return nil, dbError("list", err)
		}
		page = append(page, a)
	}
	return page, dbError("list", rows.Err())
}
