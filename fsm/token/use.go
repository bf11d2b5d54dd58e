package token

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Points to fail at.
const (
	// PointReserved: the token is marked as used and the business has not run,
	// all in a transaction that nobody sees yet.
	PointReserved fault.Point = "token.reserved"
	// PointUsed: token, business and reply are committed, and nobody knows.
	PointUsed fault.Point = "token.used"
)

// MaxReply is the greatest size of a reply, in bytes.
const MaxReply = 64 << 10

// Result is what a use answers.
type Result struct {
	// Reply is what the business replied, nil as empty.
	Reply []byte
	// Replayed says that it was an earlier use's, and that this one did nothing.
	Replayed bool
	// At is the time of the use that did something, by PostgreSQL's clock.
	At time.Time
}

// Business is what a token is used for. It works in tx, and in tx alone: it may be
// run more than once. An error rolls back all that it did, and keeps the token.
type Business func(ctx context.Context, tx pgx.Tx) (reply []byte, err error)

// Use consumes the token and runs fn, in one READ COMMITTED transaction of its
// own, which it commits. A use of the same token in parallel waits for this one,
// and gets its reply; so does a later one, for as long as the token's kind keeps
// replies. The transaction is repeated as fsm.RunTx does.
//
// The error is ErrInvalid for a token that may not be used so; fsm.ErrArgument
// for texts that cannot be, before any SQL; fn's own, and the token is as it was;
// ErrReply; fsm.ErrNothingDone; or fsm.ErrUnknown when the COMMIT was lost: the
// same use again then tells, and does nothing twice.
func Use(ctx context.Context, db fsm.TxBeginner, t Token, principal, purpose string, fn Business) (Result, error) {
	u, err := prepare(t, principal, purpose, fn)
	if err != nil {
		return Result{}, err
	}
	return u.run(ctx, db)
}

// UseRecord is Use for a store in front of the table, such as tokenredis, that
// issued the token and knows record of it: the token's row is made in the
// transaction, and the row's key decides between uses, whatever the store says.
// Where the row is there already it says what counts, and record is not looked
// at. record is nil for a store that knows nothing of the token, or no more: then
// a UseRecord under way is waited for.
func UseRecord(ctx context.Context, db fsm.TxBeginner, t Token, principal, purpose string, record *Record, fn Business) (Result, error) {
	u, err := prepare(t, principal, purpose, fn)
	if err != nil {
		return Result{}, err
	}
	u.store, u.record = true, record
	return u.run(ctx, db)
}

// UseTx is Use in a transaction of the caller's, who commits; until then nothing
// has happened, and At says when it was begun. fn and the token's consumption are
// in a savepoint: an error, of fn or since ctx has ended, leaves tx as it was before.
func UseTx(ctx context.Context, tx pgx.Tx, t Token, principal, purpose string, fn Business) (Result, error) {
	var level string
	if err := tx.QueryRow(ctx, `SELECT current_setting('transaction_isolation')`).Scan(&level); err != nil {
		return Result{}, failed("use", err)
	}
	if level != "read committed" {
		return Result{}, fmt.Errorf("%w: it is %s", ErrIsolation, level)
	}
	u, err := prepare(t, principal, purpose, fn)
	if err != nil {
		return Result{}, err
	}
	savepoint, err := tx.Begin(ctx)
	if err != nil {
		return Result{}, failed("use", err)
	}
	r, err := u.in(ctx, savepoint)
	if err == nil {
		err = release(ctx, savepoint)
	}
	if err == nil {
		return r, nil
	}
	if back := rollback(ctx, savepoint); back != nil {
		err = errors.Join(err, back) // tx can only be rolled back
	}
	return Result{}, err
}

// endTimeout bounds how long the end of a savepoint may take, which does not listen
// to the caller's context.
const endTimeout = 5 * time.Second

// release ends a savepoint, unless ctx has ended. Once it has begun it goes on: pgx
// takes a savepoint for closed when its RELEASE was never sent, and rolls back no
// more, so that the use would stay in the caller's transaction.
func release(ctx context.Context, savepoint pgx.Tx) error {
	if err := ctx.Err(); err != nil {
		return failed("use", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := savepoint.Commit(ctx); err != nil {
		return failed("use", err)
	}
	return nil
}

// rollback goes back to a savepoint even when ctx has ended. pgx returns
// ErrTxClosed where nothing is left to do.
func rollback(ctx context.Context, savepoint pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := savepoint.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		return err
	}
	return nil
}

// readCommitted is the policy of transactions that wait for others and look again.
var readCommitted = fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}}

// run makes the use in a transaction of its own.
func (u *use) run(ctx context.Context, db fsm.TxBeginner) (Result, error) {
	var r Result
	err := fsm.RunTx(ctx, db, readCommitted, func(ctx context.Context, tx pgx.Tx) (err error) {
		r, err = u.in(ctx, tx)
		return err
	})
	if err == nil && !r.Replayed {
		err = fault.At(ctx, PointUsed)
	}
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// use is one use of a token, made ready.
type use struct {
	hash               []byte
	principal, purpose string
	fn                 Business
	// store says that another store is in front, and record what it knows.
	store  bool
	record *Record
}

// prepare checks what can be checked without the database.
func prepare(t Token, principal, purpose string, fn Business) (*use, error) {
	if err := CheckBinding(principal, purpose); err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, fmt.Errorf("%w: a use of a token without business", fsm.ErrArgument)
	}
	hash, ok := t.Hash()
	if !ok {
		return nil, &InvalidError{Malformed}
	}
	return &use{hash: hash[:], principal: principal, purpose: purpose, fn: fn}, nil
}

// in makes the use in a transaction.
func (u *use) in(ctx context.Context, tx pgx.Tx) (Result, error) {
	if err := u.insert(ctx, tx); err != nil {
		return Result{}, err
	}
	at, ok, err := u.reserve(ctx, tx)
	if err != nil {
		return Result{}, err
	}
	if !ok {
		return u.replay(ctx, tx)
	}
	if err := fault.At(ctx, PointReserved); err != nil {
		return Result{}, err
	}
	reply, err := u.fn(ctx, tx)
	if err != nil {
		return Result{}, err
	}
	if len(reply) > MaxReply {
		return Result{}, fmt.Errorf("%w: %d bytes are over %d", ErrReply, len(reply), MaxReply)
	}
	if reply == nil {
		reply = []byte{} // a use has a reply; NULL says that there was none
	}
	if err := u.keep(ctx, tx, reply); err != nil {
		return Result{}, err
	}
	return Result{Reply: reply, At: at}, nil
}

// The row that insert makes is seen by nobody until it is committed. Who has no
// record could take the token for unknown meanwhile, so it waits for a lock of
// the transaction that makes one. Two hashes that share a lock wait for each other
// once in a while, and no harm is done.
const (
	makesSQL = `SELECT pg_advisory_xact_lock($1::int, $2::int)`
	looksSQL = `SELECT pg_advisory_xact_lock_shared($1::int, $2::int)`
	// The class of these locks, "tokn" as a number, keeps them apart from others.
	lockClass = 0x746f6b6e
)

const recordSQL = insertSQL + `
ON CONFLICT (hash) DO NOTHING`

// insert makes the row of a token that another store issued, unless it is there.
func (u *use) insert(ctx context.Context, tx pgx.Tx) error {
	if !u.store {
		return nil
	}
	how := makesSQL
	if u.record == nil {
		how = looksSQL
	}
	if err := lock(ctx, tx, how, u.hash); err != nil {
		return failed("use", err)
	}
	if err := makeRow(ctx, tx, u.hash, u.record); err != nil {
		return failed("use", err)
	}
	return nil
}

func lock(ctx context.Context, tx pgx.Tx, how string, hash []byte) error {
	key := int32(binary.BigEndian.Uint32(hash)) // any 32 bits of it
	_, err := tx.Exec(ctx, how, int32(lockClass), key)
	return err
}

// makeRow makes the token's row of a record, unless it is there; nothing of none.
func makeRow(ctx context.Context, tx pgx.Tx, hash []byte, r *Record) error {
	if r == nil {
		return nil
	}
	_, err := tx.Exec(ctx, recordSQL, hash, r.Kind, r.Principal, r.Purpose, r.Left, r.Keep)
	return err
}

// reserveSQL is the check and the consumption. Of two at once the second waits
// for the row, and is judged anew on what the first has left. The clock is that
// of the moment: the transaction may have begun before the token expired.
const reserveSQL = `UPDATE fsm_token AS t
SET used_at = c.now, reply = ''::bytea, sweep_at = c.now + t.keep
FROM (SELECT clock_timestamp() AS now OFFSET 0) AS c
WHERE t.hash = $1 AND t.principal = $2 AND t.purpose = $3
  AND t.used_at IS NULL AND t.expires_at > clock_timestamp()
RETURNING t.used_at`

// reserve reports whether the token was there to be used, and the time.
func (u *use) reserve(ctx context.Context, tx pgx.Tx) (at time.Time, ok bool, err error) {
	err = tx.QueryRow(ctx, reserveSQL, u.hash, u.principal, u.purpose).Scan(&at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return at, false, nil
	case err != nil:
		return at, false, failed("use", err)
	}
	return at, true, nil
}

const keepSQL = `UPDATE fsm_token AS t SET reply = $2 WHERE t.hash = $1 AND t.used_at IS NOT NULL`

// keep stores the reply in the row that this transaction holds.
func (u *use) keep(ctx context.Context, tx pgx.Tx, reply []byte) error {
	tag, err := tx.Exec(ctx, keepSQL, u.hash, reply)
	if err != nil {
		return failed("keep the reply", err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("%w: token: the business removed its own token", fsm.ErrNothingDone)
	}
	return nil
}

const replaySQL = `SELECT t.principal, t.purpose, t.used_at, t.reply, t.sweep_at > clock_timestamp()
FROM fsm_token AS t WHERE t.hash = $1`

// replay is a statement after the UPDATE that found nothing, so it sees what the
// UPDATE may have waited for.
func (u *use) replay(ctx context.Context, tx pgx.Tx) (Result, error) {
	var (
		principal, purpose string
		at                 *time.Time
		reply              []byte
		kept               bool
	)
	err := tx.QueryRow(ctx, replaySQL, u.hash).Scan(&principal, &purpose, &at, &reply, &kept)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Result{}, &InvalidError{Unknown}
	case err != nil:
		return Result{}, failed("use", err)
	case !equal(principal, u.principal):
		return Result{}, &InvalidError{WrongPrincipal}
	case !equal(purpose, u.purpose):
		return Result{}, &InvalidError{WrongPurpose}
	case at == nil || !kept:
		return Result{}, &InvalidError{Expired}
	}
	return Result{Reply: reply, Replayed: true, At: *at}, nil
}

// equal takes as long for texts that begin alike as for others.
func equal(sent, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(sent), []byte(secret)) == 1
}
