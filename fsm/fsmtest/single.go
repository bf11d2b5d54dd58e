package fsmtest

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// single lets the calls of a row have one row for an answer. The driver reads
// the first and drops the others, and so would hide a statement that answers twice.
type single struct{ fsm.DB }

// QueryRow is that of the DB, but for an error at Scan when there is a second row.
func (s single) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := s.DB.Query(ctx, sql, args...)
	return onlyRow{rows, err}
}

type onlyRow struct {
	rows pgx.Rows
	err  error
}

var errTwoRows = errors.New("the statement answers with more than one row")

// Scan reads the row, and fails when there is another one.
func (r onlyRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	if r.rows.Next() {
		return errTwoRows
	}
	return r.rows.Err()
}
