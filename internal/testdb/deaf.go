package testdb

import (
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Deaf is a pool that does the statement of a QueryRow and then loses its answer.
type Deaf struct{ *pgxpool.Pool }

// QueryRow is the pool's; its row's Scan fails with io.ErrUnexpectedEOF after it has
// read.
func (d Deaf) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return deafRow{d.Pool.QueryRow(ctx, sql, args...)}
}

type deafRow struct{ pgx.Row }

// Scan reads the row, so that its statement is done, and tells of a lost connection.
func (r deafRow) Scan(into ...any) error {
	return errors.Join(r.Row.Scan(into...), io.ErrUnexpectedEOF)
}
