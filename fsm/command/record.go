package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// record is a row of fsm_command.
type record struct {
	fresh     bool // by the statement that returned it
	id        int64
	algorithm int16
	sum       []byte
	fence     int64
	expired   bool  // it has an owner whose lease ran out
	lease     int64 // what is left of a running lease, in microseconds; 0 for none
	claimedAt time.Time
	doneAt    *time.Time
	status    *int16
	headers   []byte
	body      []byte
}

// columns are what a record is read from; c is the row.
const columns = `c.id, c.algorithm, c.fingerprint, c.fence,
	c.owner <> '' AND c.lease_until <= clock_timestamp(),
	CASE WHEN c.owner = '' THEN 0
		ELSE greatest(0, extract(epoch FROM c.lease_until - clock_timestamp()) * 1000000)::bigint END,
	c.claimed_at, c.done_at, c.status, c.headers, c.body`

// scan reads the columns, behind others.
func (r *record) scan(row pgx.Row, before ...any) error {
	return row.Scan(append(before, &r.id, &r.algorithm, &r.sum, &r.fence, &r.expired, &r.lease,
		&r.claimedAt, &r.doneAt, &r.status, &r.headers, &r.body)...)
}

// registerSQL returns the record of a key, made now when there was none. It writes
// nothing where there is one. No row comes back when another call's record was
// committed after this statement began: ON CONFLICT saw it, known did not.
const registerSQL = `
WITH known AS (
	SELECT c.* FROM fsm_command c WHERE c.scope = $1 AND c.command = $2 AND c.key = $3
), fresh AS (
	INSERT INTO fsm_command AS c
		(scope, command, key, algorithm, fingerprint, owner, fence, lease_until, created_at, claimed_at)
	SELECT $1, $2, $3, $4, $5, $6, nextval('fsm_command_fence'),
		clock_timestamp() + $7::bigint * interval '1 microsecond', clock_timestamp(), clock_timestamp()
	WHERE NOT EXISTS (SELECT FROM known)
	ON CONFLICT (scope, command, key) DO NOTHING
	RETURNING c.*
)
SELECT true, ` + columns + ` FROM fresh c
UNION ALL
SELECT false, ` + columns + ` FROM known c`

// maxRaces bounds how often a call looks again when others, or a sweep, changed
// the record between two statements of it.
const maxRaces = 10

// register returns the record of the request's key. A fresh one belongs to owner
// for the lease; without an owner it only binds the key to the request.
//
// Where the statement commits by itself, it runs again when the database says that it
// may: under another default than READ COMMITTED, the record of a call that was a
// moment faster is a serialization failure, and the next snapshot has it.
func (c *Command) register(ctx context.Context, db fsm.DB, a asked, owner string, lease time.Duration) (record, error) {
	_, alone := db.(fsm.TxBeginner)
	var raced error
	for range maxRaces {
		var r record
		err := r.scan(db.QueryRow(ctx, registerSQL, a.Scope, c.Name, a.Key,
			int16(currentAlgorithm), a.sum[:], owner, lease.Microseconds()), &r.fresh)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case alone && runsAgain(err):
			raced = err
		default:
			return r, c.claiming(err, r)
		}
	}
	return record{}, c.wrap(fsm.ErrContended, raced)
}

// judge says what a record that is not this call's means for it: done with the
// reply, an error, or neither, when the command is free to be worked on. That the
// key is another request's is judged first: it is true whatever becomes of the
// one that is at work.
func (c *Command) judge(a asked, r record) (reply Answer, done bool, err error) {
	sum := a.sum
	if r.algorithm != currentAlgorithm {
		if sum, err = a.fingerprintBy(r.algorithm); err != nil {
			return Answer{}, false, c.wrap(nil, err)
		}
	}
	switch {
	case !bytes.Equal(sum[:], r.sum):
		return Answer{}, false, c.wrap(ErrMismatch, nil)
	case r.doneAt != nil:
		reply, err := r.reply()
		return Answer{Reply: reply, Replayed: true}, err == nil, c.own("read the reply", err)
	case r.lease > 0:
		return Answer{}, false, c.wrap(nil, &InProgressError{
			Since: r.claimedAt, Lease: time.Duration(r.lease) * time.Microsecond,
		})
	}
	return Answer{}, false, nil
}

// reply is what a record that is done keeps.
func (r record) reply() (Reply, error) {
	header := http.Header{}
	if err := json.Unmarshal(r.headers, &header); err != nil {
		return Reply{}, fmt.Errorf("headers: %w", err)
	}
	if r.status == nil {
		return Reply{}, errors.New("no status")
	}
	return Reply{Status: int(*r.status), Header: header, Body: r.body, At: *r.doneAt}, nil
}
