package fsm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// WatchSyncWaits has the connections of a config fail where the server has given up
// waiting for a synchronous standby. PostgreSQL then warns, and goes on to say that the
// transaction is committed: on this server, and perhaps nowhere else, so that a failover
// loses it. With this the COMMIT, or the statement that committed by itself, has the
// warning as its error, a [pgconn.PgError] of code 40003: [ErrUnknown] from calls,
// batches and RunTx, bare from a COMMIT of the caller's own. The same call again does
// nothing twice; see [AwaitStandbys] for what its answer is worth.
//
// Call it before the pool or connection is made, as in
// fsm.WatchSyncWaits(&config.ConnConfig.Config). The config's BuildFrontend is kept. A
// session whose client_min_messages is error gets no warnings, and none of this. It costs
// a look at the header of each message.
func WatchSyncWaits(config *pgconn.Config) {
	build := config.BuildFrontend
	if build == nil {
		build = pgproto3.NewFrontend
	}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return build(&syncWaitReader{from: r}, w)
	}
}

// syncWaitReader hands on what a server sends, and makes an error of the warning that
// tells of a cancelled wait. It holds back what has come of a header or a notice until
// that is whole.
type syncWaitReader struct {
	from  io.Reader
	left  int    // bytes of a message that are to be handed on unseen
	held  []byte // the beginning of a message
	ready []byte // to be handed on before anything else
}

const (
	// headSize is a message's type and its length, which counts itself.
	// https://www.postgresql.org/docs/current/protocol-message-formats.html
	headSize       = 5
	noticeResponse = 'N'
	errorResponse  = 'E'
	// maxNotice is far more than the warning has; larger ones are others'.
	maxNotice = 1 << 16
)

// Read reads what there is.
func (s *syncWaitReader) Read(p []byte) (int, error) {
	for {
		if len(s.ready) > 0 {
			n := copy(p, s.ready)
			s.ready = s.ready[n:]
			return n, nil
		}
		n, err := s.from.Read(p)
		b := p[:n]
		if len(s.held) > 0 {
			b = append(s.held, b...)
		}
		whole := s.look(b)
		s.held = slices.Clone(b[whole:])
		n = copy(p, b[:whole])
		s.ready = b[n:whole]
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// look goes through the messages in b, and returns how much of it may be handed on.
func (s *syncWaitReader) look(b []byte) int {
	for at := 0; at < len(b); {
		if s.left > 0 {
			take := min(s.left, len(b)-at)
			at, s.left = at+take, s.left-take
			continue
		}
		if len(b)-at < headSize {
			return at
		}
		// A length that cannot be is for the frontend to refuse.
		size := 1 + max(int(int32(binary.BigEndian.Uint32(b[at+1:]))), headSize-1) // #nosec G115 -- as the protocol has it
		if b[at] != noticeResponse || size > maxNotice {
			s.left = size
			continue
		}
		if len(b)-at < size {
			return at
		}
		refuse(b[at : at+size])
		at += size
	}
	return len(b)
}

// refuse makes an error of a notice that tells of a cancelled wait: its fields are those
// of an error. It goes by the function that warns, since words are translated and the
// code is any warning's; no RAISE can name a function.
func refuse(notice []byte) {
	var code []byte
	waited := false
	for fields := notice[headSize:]; len(fields) > 0 && fields[0] != 0; {
		value, rest, ended := bytes.Cut(fields[1:], []byte{0})
		if !ended {
			return
		}
		switch fields[0] {
		case 'C':
			code = value
		case 'R':
			waited = string(value) == "SyncRepWaitForLSN"
		}
		fields = rest
	}
	if waited && len(code) == len(completionUnknown) {
		notice[0] = errorResponse
		copy(code, completionUnknown)
	}
}

// AwaitStandbys returns nil when all that the server has committed up to now is on its
// synchronous standbys too, as far as the session's synchronous_commit asks; at once
// where there are none.
//
// A call that moved a row has waited itself. An answer that wrote nothing, Replayed
// say, tells what the server has: that may be more than its standbys have, after a wait
// that was cancelled (a context that ends does so too) or after a crash. Who must not
// say "done" before it can outlive a failover asks this in between, of the server that gave
// the answer: on the same connection, which is one of [WatchSyncWaits]. It writes an empty
// message into the WAL, and costs what a commit does.
//
// It is ErrArgument in a transaction of the caller's, in which nothing waits before the
// COMMIT, and ErrUnknown with the cause when the wait ended in another way: nothing is
// known then, and asking again is safe.
func AwaitStandbys(ctx context.Context, db DB) error {
	if InTx(db) {
		return fmt.Errorf("%w: nothing waits for standbys before the COMMIT of a transaction", ErrArgument)
	}
	if _, err := db.Exec(ctx, "SELECT pg_logical_emit_message(true, 'pawl', '')"); err != nil {
		return fmt.Errorf("%w: await standbys: %w", ErrUnknown, err)
	}
	return nil
}
