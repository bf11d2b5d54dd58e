// Package rowcount counts the rows of a machine's table that stand in a state,
// as a database has them now. It only reads. What the number means it leaves to
// others.
package rowcount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Patience is how long one count may take; a table without an index on its
// status is read whole.
const Patience = 30 * time.Second

var (
	// ErrMissing says that the database has no such table or column.
	ErrMissing = errors.New("the database has no such table or column")
	// ErrSlow says that a count took longer than Patience.
	ErrSlow = errors.New("the count took too long")
)

// State is a state as rows of a table hold it.
type State struct {
	Table *model.Table
	// Name is what a column of text or of an enum holds, and Code one of codes.
	Name string
	Code int
}

// Counter counts in one database. It is not safe for concurrent use.
type Counter struct{ conn *pgx.Conn }

// errConnString stands for pgx's own error, which may show a password.
var errConnString = errors.New("this is no connection string such as postgres://user:password@host:5432/database")

// Open connects to the database of a URL or keyword string. Tables are looked
// up by its search_path. The caller must Close the counter.
func Open(ctx context.Context, url string) (*Counter, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errConnString
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Counter{conn}, nil
}

// Close ends the connection.
func (c *Counter) Close(ctx context.Context) error { return c.conn.Close(ctx) }

// Count returns how many rows stand in the state. The errors are ErrMissing,
// ErrSlow, and the database's; after each the counter may be used again as long
// as its connection holds.
func (c *Counter) Count(ctx context.Context, s State) (int64, error) {
	var n int64
	err := pgx.BeginTxFunc(ctx, c.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = %d", Patience.Milliseconds())); err != nil {
			return err
		}
		query, arg := statement(s)
		return tx.QueryRow(ctx, query, arg).Scan(&n)
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "42P01", "42703", "3F000":
			return 0, fmt.Errorf("%w: %s", ErrMissing, pg.Message)
		case "57014":
			return 0, fmt.Errorf("%w: more than %s", ErrSlow, Patience)
		}
	}
	return n, err
}

// statement compares as text, so that a value which an enum lacks, or a column
// that is of another type by now, gives no rows rather than an error.
func statement(s State) (query string, arg any) {
	table, column := sqlname.Ident(s.Table.Name), sqlname.Ident(s.Table.Status.Column)
	return fmt.Sprintf("SELECT count(*) FROM %s WHERE %s::text = $1", table, column), s.Table.Status.Text(s.Name, s.Code)
}
