package audit

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Why a database could not be audited. They are found by errors.Is; the
// database's own error stays wrapped.
var (
	// ErrConnect: there is no connection to be had.
	ErrConnect = errors.New("cannot connect to the database")
	// ErrMissing: a table or column that the migrations make is not there.
	ErrMissing = errors.New("the migrations are not all applied")
	// ErrPermission: the role may not read a table, or not all of its rows.
	ErrPermission = errors.New("the role may not read everything")
	// ErrRead: the database did not answer a query.
	ErrRead = errors.New("cannot read the database")
)

// Error is an audit that came to no end.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Detail says what exactly, empty when the cause says it.
	Detail string
	// Err is the cause, nil when there is none beneath.
	Err error
}

// Error is kind, detail and cause.
func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
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

// readError classifies the error of a query. The end of ctx is what the caller
// wanted, so it comes back bare.
func readError(ctx context.Context, detail string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	kind := ErrRead
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch refused.Code {
		case "42501": // insufficient_privilege, and row-level security that would hide rows
			kind = ErrPermission
		case "42P01", "42703": // undefined_table, undefined_column
			kind = ErrMissing
		}
	}
	return &Error{kind, detail, err}
}
