package command

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Progress is how far a command is.
type Progress string

const (
	// NotKnown: there is no record. The command was never sent, is at work in a
	// transaction of the caller's (DoTx), or was archived.
	NotKnown Progress = "NotKnown"
	// Idle: it was sent, has no reply, and nobody is at work: the call failed, or
	// died. Sent again, it is done.
	Idle Progress = "Idle"
	// Working: a call is at work on it; ask again later.
	Working Progress = "Working"
	// Finished: it has its reply.
	Finished Progress = "Finished"
)

// Status is what is known about a command.
type Status struct {
	Progress Progress
	// Since is when the command was last claimed under a lease, or else first
	// sent; zero when it is NotKnown.
	Since time.Time
	// Lease is what is left of a running lease, 0 without one, and Fence the
	// latest owner's.
	Lease time.Duration
	Fence int64
	// Reply is the reply when it is Finished.
	Reply Reply
}

// statusSQL reads a record, and whether a transaction is at work on it. A row that
// is locked carries its locker's transaction id in xmax, and every transaction that
// runs holds a lock on its own id: so this asks without waiting, and without
// writing a lock as FOR SHARE would.
const statusSQL = `
SELECT c.done_at IS NULL AND EXISTS (
	SELECT FROM pg_catalog.pg_locks l
	WHERE l.locktype = 'transactionid' AND l.transactionid = c.xmax AND l.mode = 'ExclusiveLock' AND l.granted
), ` + columns + `
FROM fsm_command c WHERE c.scope = $1 AND c.command = $2 AND c.key = $3`

// Status says how far the command with this key is; it waits for nobody. db must
// be the primary: a replica knows less, and nothing of who is at work.
func (c *Command) Status(ctx context.Context, db fsm.DB, scope, key string) (Status, error) {
	r := Request{Scope: scope, Key: key}
	if err := errors.Join(c.Check(), r.check()); err != nil {
		return Status{}, c.wrap(nil, err)
	}
	if err := c.need(db != nil); err != nil {
		return Status{}, err
	}
	var rec record
	var locked bool
	err := rec.scan(db.QueryRow(ctx, statusSQL, scope, c.Name, key), &locked)
	if errors.Is(err, pgx.ErrNoRows) {
		return Status{Progress: NotKnown}, nil
	}
	if err != nil {
		return Status{}, c.own("status", err)
	}
	s := Status{Progress: Idle, Since: rec.claimedAt, Lease: time.Duration(rec.lease) * time.Microsecond, Fence: rec.fence}
	switch {
	case rec.doneAt != nil:
		s.Progress, s.Lease = Finished, 0
		s.Reply, err = rec.reply()
	case locked, rec.lease > 0:
		s.Progress = Working
	}
	return s, c.own("read the reply", err)
}
