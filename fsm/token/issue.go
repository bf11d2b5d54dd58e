package token

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// insertSQL takes the time of the statement, not of a transaction that may have
// begun long before.
const insertSQL = `INSERT INTO fsm_token (hash, kind, principal, purpose, issued_at, expires_at, keep, sweep_at)
SELECT $1, $2, $3, $4, t.now, t.now + $5::interval, $6::interval, t.now + $5::interval
FROM (SELECT clock_timestamp() AS now OFFSET 0) AS t`

// Issue makes a token of the kind that principal may use for purpose, once, for
// as long as the kind says by PostgreSQL's clock. A purpose names what is asked
// for as closely as can be said now: "pay order 42" rather than "pay".
//
// The error is fsm.ErrArgument for a kind or text that cannot be, before any SQL,
// and fsm.ErrNothingDone for what the database says: try again. In a caller's
// transaction the token is good once that commits.
func Issue(ctx context.Context, db fsm.DB, k Kind, principal, purpose string) (Token, error) {
	if err := CheckBinding(principal, purpose); err != nil {
		return Token{}, err
	}
	t, err := New(k)
	if err != nil {
		return Token{}, err
	}
	hash, _ := t.Hash() // made just now
	if _, err := db.Exec(ctx, insertSQL, hash[:], k.Name, principal, purpose, k.TTL, k.Keep); err != nil {
		return Token{}, failed("issue", err)
	}
	return t, nil
}

const revokeSQL = `DELETE FROM fsm_token AS t WHERE t.hash = $1 AND t.used_at IS NULL`

// Revoke makes a token that was not used invalid, and reports whether it did:
// false says that it was used, or is not known. It waits for a use under way.
func Revoke(ctx context.Context, db fsm.DB, t Token) (bool, error) {
	hash, ok := t.Hash()
	if !ok {
		return false, nil
	}
	tag, err := db.Exec(ctx, revokeSQL, hash[:])
	if err != nil {
		return false, failed("revoke", err)
	}
	return tag.RowsAffected() > 0, nil
}

const expireSQL = `UPDATE fsm_token AS t SET expires_at = clock_timestamp()
WHERE t.hash = $1 AND t.used_at IS NULL AND t.expires_at > clock_timestamp()`

// RevokeRecord is Revoke for a store in front of the table, with what that knows of
// the token, as in [UseRecord]. It waits for a UseRecord under way, though nobody sees
// its row yet, and leaves an expired row until the token would have expired: a UseRecord
// that read its record before, or will read it again, finds that row.
func RevokeRecord(ctx context.Context, db fsm.TxBeginner, t Token, record *Record) (revoked bool, err error) {
	hash, ok := t.Hash()
	if !ok {
		return false, nil
	}
	err = fsm.RunTx(ctx, db, readCommitted, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx, makesSQL, hash[:]); err != nil {
			return failed("revoke", err)
		}
		if err := makeRow(ctx, tx, hash[:], record); err != nil {
			return failed("revoke", err)
		}
		tag, err := tx.Exec(ctx, expireSQL, hash[:])
		if err != nil {
			return failed("revoke", err)
		}
		revoked = tag.RowsAffected() > 0
		return nil
	})
	return revoked && err == nil, err
}

const revokeAllSQL = `DELETE FROM fsm_token AS t WHERE t.principal = $1 AND t.used_at IS NULL`

// RevokeAll makes all tokens of a principal that were not used invalid, after a
// change of password say, and returns how many. It reads the whole table.
//
// It reaches no token that a store in front of the table issued: those of tokenredis
// stay good until they expire, or are revoked one by one.
func RevokeAll(ctx context.Context, db fsm.DB, principal string) (int64, error) {
	if err := checkText("principal", principal); err != nil {
		return 0, err
	}
	tag, err := db.Exec(ctx, revokeAllSQL, principal)
	if err != nil {
		return 0, failed("revoke", err)
	}
	return tag.RowsAffected(), nil
}

// maxPage is the greatest number of rows that one sweep takes.
const maxPage = 100_000

// sweepSQL takes only rows that are due, in the order of an index, so rows that
// live never stand in the way. A row that a use holds is passed over; one whose
// use was committed meanwhile is judged anew, and is due no more.
const sweepSQL = `WITH due AS (
  SELECT t.hash FROM fsm_token AS t
  WHERE t.sweep_at <= now()
  ORDER BY t.sweep_at, t.hash
  LIMIT $1
  FOR UPDATE SKIP LOCKED
)
DELETE FROM fsm_token AS t USING due WHERE t.hash = due.hash`

// Sweep removes tokens that expired unused, and used ones whose reply was kept
// long enough, at most limit of them (0 means 1,000; at most 100,000), and
// returns how many: fewer than limit when no more are due and free. It may run
// beside uses and beside other sweeps. Nothing is archived: what a token allowed
// is in the business's own rows, and a swept token stays invalid.
func Sweep(ctx context.Context, db fsm.DB, limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, fmt.Errorf("%w: a sweep of less than nothing", fsm.ErrArgument)
	case limit == 0:
		limit = 1000
	}
	tag, err := db.Exec(ctx, sweepSQL, min(limit, maxPage))
	if err != nil {
		return 0, failed("sweep", err)
	}
	return int(tag.RowsAffected()), nil
}

// Record is what another store knows of a token that it issued, for [UseRecord].
type Record struct {
	Kind               string
	Principal, Purpose string
	// Left is how long the token may still be used, Keep how long its reply is
	// kept from the use on.
	Left, Keep time.Duration
}
