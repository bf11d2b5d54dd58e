// Package record keeps what a generated call would send to a database.
package record

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Err is what every use of a [DB] ends with.
var Err = errors.New("only recorded")

// DB is a database that keeps the last query and answers none. It is for one
// goroutine.
type DB struct {
	SQL  string
	Args []any
}

// Query keeps the query.
func (r *DB) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	r.SQL, r.Args = sql, args
	return nil, Err
}

// Exec does nothing.
func (r *DB) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, Err
}

// QueryRow keeps the query, and has no row.
func (r *DB) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	r.SQL, r.Args = sql, args
	return noRow{}
}

// Begin begins nothing.
func (r *DB) Begin(context.Context) (pgx.Tx, error) { return nil, Err }

type noRow struct{}

// Scan has nothing to scan.
func (noRow) Scan(...any) error { return Err }
