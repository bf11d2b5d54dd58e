package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Why there is no figure. They are found by errors.Is.
var (
	// ErrURL: the connection string cannot be read. It is not repeated, since a
	// password may be anywhere in it.
	ErrURL = errors.New("this is no connection string such as postgres://user:password@host:5432/database")
	// ErrAway: there is no connection to be had, or it was lost.
	ErrAway = errors.New("the database cannot be reached")
	// ErrBusy: somebody holds the table, or waits for it, and nobody is held up
	// for a figure.
	ErrBusy = errors.New("somebody is changing the table")
	// ErrSlow: it took longer than its bound.
	ErrSlow = errors.New("it takes too long")
	// ErrDenied: the role may not read it.
	ErrDenied = errors.New("the role may not read it")
	// ErrHidden: nothing was found, and policies of row-level security may have hidden it.
	ErrHidden = errors.New("row-level security hides rows from the role")
	// ErrMissing: there is no such table or column.
	ErrMissing = errors.New("there is no such table or column")
	// ErrRead: the database refused in another way.
	ErrRead = errors.New("the database does not answer")
)

// Error is a figure that could not be read.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Relation is the table that it is about, several with commas for ErrHidden, empty when
	// that is not known; and Column one of its columns, empty for the whole.
	Relation, Column string
	// Err is the cause, nil where there is none beneath.
	Err error
}

// Error is kind, relation and cause.
func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Relation != "" {
		text += ": " + e.Relation
	}
	if e.Column != "" {
		text += "." + e.Column
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns kind and cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Grant is the statement that lets the role read, empty for every other error.
func (e *Error) Grant(role string) string {
	switch {
	case e.Kind != ErrDenied || e.Relation == "":
		return ""
	case e.Column != "":
		return fmt.Sprintf("GRANT SELECT (%s) ON %s TO %s;", ident(e.Column), ident(e.Relation), ident(role))
	}
	return fmt.Sprintf("GRANT SELECT ON %s TO %s;", ident(e.Relation), ident(role))
}

// kinds are the SQLSTATEs that say why.
var kinds = map[string]error{
	"55P03": ErrBusy,   // lock_not_available: lock_timeout
	"57014": ErrSlow,   // query_canceled: statement_timeout
	"40001": ErrBusy,   // on a replica: a conflict with what is replayed
	"40P01": ErrBusy,   // the same, as a deadlock
	"42501": ErrDenied, // insufficient_privilege
	"42P01": ErrMissing, "42703": ErrMissing, "3F000": ErrMissing,
	"57P01": ErrAway, "57P02": ErrAway, "57P03": ErrAway, "57P05": ErrAway, "25P03": ErrAway, // the server ends the session, or does not take one yet
	"53300": ErrAway, "28P01": ErrAway, "28000": ErrAway, "3D000": ErrAway, // no connection left, none for this user or database
}

// classify makes an *Error of whatever ended a transaction. The end of the
// caller's own context comes back as it is.
func classify(ctx context.Context, err error) error {
	var told *Error
	if err == nil || errors.As(err, &told) {
		return err
	}
	var refused *pgconn.PgError
	var connect *pgconn.ConnectError
	var unread pgx.ScanArgError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &told):
		return told
	case errors.Is(cause, context.Canceled):
		return cause
	case errors.As(err, &connect):
		return &Error{Kind: ErrAway, Err: err}
	case errors.As(err, &unread): // such as a time of infinity
		return &Error{Kind: ErrRead, Err: err}
	case errors.As(err, &refused):
		if kind, known := kinds[refused.Code]; known {
			return &Error{Kind: kind, Relation: refused.TableName, Err: err}
		}
		return &Error{Kind: ErrRead, Err: err}
	}
	return &Error{Kind: ErrAway, Err: err} // no answer came
}
