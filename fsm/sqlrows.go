package fsm

import (
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// sqlRow shows *sql.Row as pgx.Row, or an error instead of one.
type sqlRow struct {
	row *sql.Row
	err error
}

// Scan reads the row; no row is pgx.ErrNoRows.
func (r sqlRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.row.Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return pgx.ErrNoRows
	}
	return err
}

// sqlRows shows *sql.Rows as pgx.Rows; rows is nil when the query failed.
type sqlRows struct {
	rows *sql.Rows
	err  error
}

func (r *sqlRows) Close() {
	if r.rows != nil {
		_ = r.rows.Close() // pgx reports it through Err
	}
}

func (r *sqlRows) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.Err()
}

func (r *sqlRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (r *sqlRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (r *sqlRows) RawValues() [][]byte                          { return nil }
func (r *sqlRows) Conn() *pgx.Conn                              { return nil }
func (r *sqlRows) TypeMap() *pgtype.Map                         { return nil }

// Next closes the rows after the last one, as pgx does.
func (r *sqlRows) Next() bool {
	if r.err == nil && r.rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Scan reads the current row; an error ends the rows, as in pgx.
func (r *sqlRows) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	if err := r.rows.Scan(dest...); err != nil {
		r.err = err
		r.Close()
		return err
	}
	return nil
}

// Values returns the current row as database/sql sees it.
func (r *sqlRows) Values() ([]any, error) {
	if r.err != nil {
		return nil, r.err
	}
	columns, err := r.rows.Columns()
	if err != nil {
		return nil, err
	}
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	return values, r.Scan(dest...)
}
