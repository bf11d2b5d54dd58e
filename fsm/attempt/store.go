package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// Pool is where rounds are driven: *pgxpool.Pool or *pgx.Conn. A round commits by
// itself several times, so it cannot run in a caller's transaction.
type Pool interface {
	fsm.DB
	fsm.TxBeginner
}

// selected is what scan reads, of fsm_attempts AS a.
const selected = `a.id::text, a.kind, a.business_key, a.request::text, a.state, a.ref, a.result::text, a.code, a.last_error,
  a.sends, a.rounds, a.fence,
  coalesce((SELECT json_agg(json_build_object('name', s.name, 'data', s.data) ORDER BY s.position)
            FROM fsm_attempt_steps AS s WHERE s.attempt_id = a.id), '[]')::text,
  a.created_at, a.first_sent_at, a.completed_at, a.stuck_at, false`

// archived is the same of fsm_attempts_archive AS a.
const archived = `a.id::text, a.kind, a.business_key, a.request::text, a.state, a.ref, a.result::text, a.code, a.last_error,
  a.sends, a.rounds, a.fence, a.steps::text,
  a.created_at, a.first_sent_at, a.completed_at, NULL::timestamptz, true`

// readSQL finds an attempt wherever it is; both tables are read by one snapshot,
// so that a sweep in between hides nothing.
const readSQL = `SELECT ` + selected + ` FROM fsm_attempts AS a WHERE a.id = $1
UNION ALL
SELECT ` + archived + ` FROM fsm_attempts_archive AS a WHERE a.id = $1`

// Get returns the attempt with this id, from the archive too, as it is committed.
// ErrNotFound when there is none, ErrArgument for an id that is no uuid.
func Get(ctx context.Context, db fsm.DB, id string) (Attempt, error) {
	if err := idOK(id); err != nil {
		return Attempt{}, err
	}
	a, err := scan(db.QueryRow(ctx, readSQL, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return Attempt{}, ErrNotFound
	}
	return a, dbError("get", err)
}

// keySQL is from the key to the attempt, with an id alone where the attempt is
// gone.
const keySQL = `SELECT k.attempt_id::text FROM fsm_attempt_keys AS k WHERE k.kind = $1 AND k.business_key = $2`

// Find returns the attempt of a business key, from the archive too. ErrNotFound
// when none was started, ErrSpent when it is gone from the archive.
func Find(ctx context.Context, db fsm.DB, kind, businessKey string) (Attempt, error) {
	if err := errors.Join(textOK("the kind's name", kind, maxName), textOK("the business key", businessKey, MaxKey)); err != nil {
		return Attempt{}, err
	}
	var id string
	switch err := db.QueryRow(ctx, keySQL, kind, businessKey).Scan(&id); {
	case errors.Is(err, pgx.ErrNoRows):
		return Attempt{}, ErrNotFound
	case err != nil:
		return Attempt{}, dbError("find", err)
	}
	a, err := Get(ctx, db, id)
	if errors.Is(err, ErrNotFound) {
		return Attempt{}, ErrSpent
	}
	return a, err
}

// scan reads selected or archived, and what else was selected behind it.
func scan(row pgx.Row, more ...any) (Attempt, error) {
	var a Attempt
	var steps []byte
	to := append([]any{&a.ID, &a.Kind, &a.BusinessKey, (*[]byte)(&a.Request), &a.State, &a.Result.Ref, (*[]byte)(&a.Result.Data),
		&a.Code, &a.LastError, &a.Sends, &a.Rounds, &a.Fence, &steps,
		&a.CreatedAt, &a.FirstSentAt, &a.CompletedAt, &a.StuckAt, &a.Archived}, more...)
	if err := row.Scan(to...); err != nil {
		return Attempt{}, err
	}
	if err := json.Unmarshal(steps, &a.Steps); err != nil {
		return Attempt{}, fmt.Errorf("steps of attempt %s: %w", a.ID, err)
	}
	for i := range a.Steps {
		if string(a.Steps[i].Data) == "null" {
			a.Steps[i].Data = nil
		}
	}
	return a, nil
}

// one runs a statement of one row that commits by itself, and reads its attempt.
func one(ctx context.Context, db fsm.DB, more []any, sql string, args ...any) (a Attempt, err error) {
	err = alone.Run(ctx, db, func(ctx context.Context, db fsm.DB) error {
		a, err = scan(db.QueryRow(ctx, sql, args...), more...)
		return err
	})
	if err != nil {
		return Attempt{}, err
	}
	return a, nil
}

// dbError says what a database's error leaves done, as fsm's calls do: it is
// fsm.ErrNothingDone or fsm.ErrUnknown. It is nil for nil.
func dbError(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fsm.SweepError(&fsm.EventInfo{Machine: "attempt", Event: what}, err)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" {
		return fmt.Errorf("%w: %w", ErrTables, err)
	}
	return err
}

// endTimeout bounds what is written after a call, which the end of the caller's
// context must not prevent: the provider has been asked.
const endTimeout = 5 * time.Second

func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
}
