package fsm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQLExecutor is a database/sql transaction: *sql.Tx, or what GORM, ent and
// others show of theirs.
type SQLExecutor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// ErrUnsupported says that a pgx.Tx made by SQLTx cannot do what was asked,
// since database/sql cannot.
var ErrUnsupported = errors.New("not supported over database/sql")

// SQLTx lets calls run in a database/sql transaction that the caller owns and
// commits. The driver must be pgx/v5/stdlib, which GORM and others use; lib/pq
// scans numeric and date columns in another way. Begin makes a savepoint, so Then works; CopyFrom, SendBatch, Prepare
// and LargeObjects do not. It is as safe for concurrent use as tx: not.
func SQLTx(tx SQLExecutor) DB { return &sqlTx{tx: tx, savepoints: new(int)} }

// sqlTx is the transaction (savepoint 0) or a savepoint in it.
type sqlTx struct {
	tx         SQLExecutor
	savepoints *int // how many the transaction has had
	savepoint  int
	closed     bool
}

var _ pgx.Tx = (*sqlTx)(nil)

func (t *sqlTx) name() string { return fmt.Sprintf("fsm_%d", t.savepoint) }

// Begin sets a savepoint.
func (t *sqlTx) Begin(ctx context.Context) (pgx.Tx, error) {
	if t.closed {
		return nil, pgx.ErrTxClosed
	}
	*t.savepoints++
	inner := &sqlTx{tx: t.tx, savepoints: t.savepoints, savepoint: *t.savepoints}
	if _, err := t.tx.ExecContext(ctx, "SAVEPOINT "+inner.name()); err != nil {
		return nil, err
	}
	return inner, nil
}

// Commit releases the savepoint; the transaction itself is its owner's. After
// an error the savepoint can still be rolled back.
func (t *sqlTx) Commit(ctx context.Context) error {
	if err := t.open(); err != nil {
		return err
	}
	_, err := t.tx.ExecContext(ctx, "RELEASE SAVEPOINT "+t.name())
	t.closed = err == nil
	return err
}

// Rollback rolls back to the savepoint. After Commit it returns pgx.ErrTxClosed.
func (t *sqlTx) Rollback(ctx context.Context) error {
	if err := t.open(); err != nil {
		return err
	}
	t.closed = true
	if _, err := t.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+t.name()); err != nil {
		return err
	}
	// A second SQLTx over the same transaction counts from 1 again. Left in
	// place, this savepoint would hide an outer one of the same name.
	_, err := t.tx.ExecContext(ctx, "RELEASE SAVEPOINT "+t.name())
	return err
}

// open returns nil when there is a savepoint to end.
func (t *sqlTx) open() error {
	switch {
	case t.savepoint == 0:
		return fmt.Errorf("%w: the transaction is its owner's to end", ErrUnsupported)
	case t.closed:
		return pgx.ErrTxClosed
	}
	return nil
}

// Exec runs a statement. The tag holds the first word and the number of rows.
func (t *sqlTx) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	if t.closed {
		return pgconn.CommandTag{}, pgx.ErrTxClosed
	}
	r, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	verb := ""
	if words := strings.Fields(query); len(words) > 0 {
		verb = strings.ToUpper(words[0])
	}
	return pgconn.NewCommandTag(fmt.Sprintf("%s %d", verb, n)), nil
}

// Query runs a query. As in pgx, the rows hold its error too.
func (t *sqlTx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	if t.closed {
		return &sqlRows{err: pgx.ErrTxClosed}, pgx.ErrTxClosed
	}
	rows, err := t.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return &sqlRows{err: err}, err
	}
	return &sqlRows{rows: rows}, nil
}

// QueryRow runs a query for one row; no row is pgx.ErrNoRows.
func (t *sqlTx) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	if t.closed {
		return sqlRow{err: pgx.ErrTxClosed}
	}
	return sqlRow{row: t.tx.QueryRowContext(ctx, query, args...)}
}

// CopyFrom is not supported.
func (t *sqlTx) CopyFrom(context.Context, pgx.Identifier, []string, pgx.CopyFromSource) (int64, error) {
	return 0, ErrUnsupported
}

// SendBatch is not supported; every result of it says so.
func (t *sqlTx) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return pgx.FailedBatchResults(b, ErrUnsupported)
}

// LargeObjects is not supported; its methods return pgx.ErrTxClosed.
func (t *sqlTx) LargeObjects() pgx.LargeObjects {
	// The zero LargeObjects panics. Those of a batch's transaction that was
	// never sent return an error, and pgx shows no other way to such ones.
	var b pgx.Batch
	b.BeginTx(pgx.TxOptions{})
	return pgx.FailedBatchResults(&b, ErrUnsupported).Tx().LargeObjects()
}

// Prepare is not supported; database/sql prepares by itself.
func (t *sqlTx) Prepare(context.Context, string, string) (*pgconn.StatementDescription, error) {
	return nil, ErrUnsupported
}

// Conn returns nil: there is no pgx connection to show.
func (t *sqlTx) Conn() *pgx.Conn { return nil }
