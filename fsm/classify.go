package fsm

import (
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that a policy hangs on.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	serializationFailure = "40001"
	completionUnknown    = "40003"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	// insufficientPrivilege is that of a row which a policy refuses, too; see denied.
	insufficientPrivilege = "42501"
)

// Retryable reports whether the same work may succeed when its transaction is
// run again, and certainly did nothing this time: a serialization failure, a
// deadlock, a lock that was not to be had in time, a contended row, or a
// statement that never reached the server. It is false for nil, and for
// [ErrUnknown]: that call may be repeated too, but by someone who knows that
// every call in the transaction is safe to repeat.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, ErrUnknown) {
		return false
	}
	if errors.Is(err, ErrContended) {
		return true
	}
	if s := sqlState(err); s != "" {
		return !endsSession(err, s) && (s == serializationFailure || s == deadlockDetected || s == lockNotAvailable)
	}
	return pgconn.SafeToRetry(err)
}

// sqlState returns the SQLSTATE of a database error of any driver, or "".
func sqlState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// kindOf says whether an error of a statement or a COMMIT leaves any doubt. An
// error that the server reported at severity ERROR aborted the transaction, a
// cancelled statement's 57014 too; FATAL and PANIC end the session, perhaps
// between the commit and the reply.
func kindOf(err error) error {
	var connect *pgconn.ConnectError
	switch s := sqlState(err); {
	case errors.As(err, &connect), errors.Is(err, pgx.ErrTxCommitRollback),
		errors.Is(err, pgx.ErrTxClosed), errors.Is(err, sql.ErrTxDone):
		return ErrNothingDone
	case s == completionUnknown || endsSession(err, s):
		return ErrUnknown
	case s != "", pgconn.SafeToRetry(err):
		return ErrNothingDone
	}
	return ErrUnknown
}

// endsSession reports whether the server error closed the session: its
// severity says so, or, for drivers that do not show one, its class.
func endsSession(err error, state string) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		severity := pg.SeverityUnlocalized
		if severity == "" {
			severity = pg.Severity // as some poolers send it; a translated one matches nothing below
		}
		switch severity {
		case "ERROR":
			return false
		case "FATAL", "PANIC":
			return true
		}
	}
	switch {
	case len(state) != 5:
		return false
	case state[:2] == "08", state == "57P01", state == "57P02", state == "57P04", state == "57P05":
		return true
	}
	return false
}
