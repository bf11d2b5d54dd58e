package attempt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// startSQL writes key and attempt in one statement. A caller who comes second
// waits for the first one's transaction, and then writes nothing.
const startSQL = `WITH key AS (
  INSERT INTO fsm_attempt_keys AS k (kind, business_key, attempt_id)
  VALUES ($1, $2, gen_random_uuid())
  ON CONFLICT ON CONSTRAINT fsm_attempt_keys_pkey DO NOTHING
  RETURNING k.attempt_id
)
INSERT INTO fsm_attempts AS a (id, kind, business_key, request, due, created_at)
SELECT key.attempt_id, $1, $2, $3::json, clock_timestamp(), clock_timestamp()
FROM key
RETURNING ` + selected

// Start makes an attempt of a business key, or returns the one that is there,
// archived or not; started says which. The business key is the call's identity in
// the business: a refund number, not an order number. It starts one attempt for
// good, whatever became of it.
//
// With a transaction as db, the attempt is there if and only if the transaction
// commits; nothing may be sent before. With a pool it commits by itself. request
// becomes canonical JSON.
//
// ErrMismatch: the key has an attempt with another request, which is returned.
// ErrSpent: its attempt is kept no more. ErrArgument: the kind, the key or the
// request is impossible. Otherwise fsm.ErrNothingDone or fsm.ErrUnknown; the same
// call again is safe. It is right at every isolation level. Where it commits by
// itself, READ COMMITTED is what counts, whatever the server's default is; in a
// transaction above that the second caller gets a serialization failure, which
// fsm.Retryable knows: the transaction is the caller's to run again.
func Start(ctx context.Context, db fsm.DB, kind *Kind, businessKey string, request any) (a Attempt, started bool, err error) {
	if err := kind.check(); err != nil {
		return Attempt{}, false, err
	}
	if err := textOK("the business key", businessKey, MaxKey); err != nil {
		return Attempt{}, false, err
	}
	content, err := canonical("the request", request)
	if err != nil {
		return Attempt{}, false, err
	}
	a, err = one(ctx, db, nil, startSQL, kind.Name, businessKey, string(content))
	if err == nil {
		kind.notify(a.ID, WasStarted, nil)
		return a, true, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return Attempt{}, false, dbError("start", err)
	}
	// A later statement, since the first one's snapshot may not show the winner's row.
	a, err = Find(ctx, db, kind.Name, businessKey)
	if err != nil {
		return Attempt{}, false, err
	}
	if !bytes.Equal(a.Request, content) {
		return a, false, fmt.Errorf("%w (kind %s)", ErrMismatch, kind.Name)
	}
	return a, false, nil
}
