package fsmtest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// after runs a file of SQL in the migrated database; none for no name.
func after(ctx context.Context, name, url string) error {
	if name == "" {
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.PgConn().Exec(ctx, string(content)).ReadAll(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// callers is a pool whose sessions have the role, nil for no role.
func callers(config *pgxpool.Config, role string) (*pgxpool.Pool, error) {
	if role == "" {
		return nil, nil
	}
	own := config.Copy()
	own.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, setRole(role))
		return err
	}
	return pgxpool.NewWithConfig(context.Background(), own)
}

func setRole(role string) string { return "SET ROLE " + pgx.Identifier{role}.Sanitize() }

// on is where a call runs that is to run on db: with the statements replaced, and in
// the role of callers.
func (e *engine) on(db fsm.DB) fsm.DB {
	if e.callers != nil {
		if pool, ok := db.(*pgxpool.Pool); ok && pool == e.pool {
			db = e.callers
		} else {
			db = acting{db, e.role}
		}
	}
	return e.statements.on(db)
}

// acting is one session, which has another role for as long as a statement of a call
// takes. The tests look at rows, before and after, as who they are.
type acting struct {
	fsm.DB
	role string
}

const resetRole = "RESET ROLE"

// take takes the role on; leave gives it back, which a transaction that the
// statement has aborted does by itself.
func (a acting) take(ctx context.Context) error {
	_, err := a.DB.Exec(ctx, setRole(a.role))
	return err
}

func (a acting) leave(ctx context.Context, failed error) error {
	if _, err := a.DB.Exec(context.WithoutCancel(ctx), resetRole); err != nil && failed == nil {
		return err
	}
	return failed
}

// Exec runs it as the role.
func (a acting) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := a.take(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := a.DB.Exec(ctx, sql, args...)
	return tag, a.leave(ctx, err)
}

// Query asks as the role, which is left when the rows are closed.
func (a acting) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := a.take(ctx); err != nil {
		return nil, err
	}
	rows, err := a.DB.Query(ctx, sql, args...)
	if err != nil {
		return rows, a.leave(ctx, err)
	}
	return &actingRows{Rows: rows, leave: func() error { return a.leave(ctx, nil) }}, nil
}

// QueryRow asks as the role for one row.
func (a acting) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := a.Query(ctx, sql, args...)
	return onlyRow{rows, err}
}

// Begin is that of the DB, and the statements in it are in the role too.
func (a acting) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := a.DB.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return actingTx{tx, acting{tx, a.role}}, nil
}

// actingTx is a transaction in which statements are in the role.
type actingTx struct {
	pgx.Tx
	acting acting
}

// Exec runs as the role, also in the transaction.
func (t actingTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return t.acting.Exec(ctx, sql, args...)
}

// Query asks as the role, which is left when the rows are closed.
func (t actingTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return t.acting.Query(ctx, sql, args...)
}

// QueryRow asks as the role for one row.
func (t actingTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return t.acting.QueryRow(ctx, sql, args...)
}

// Begin makes a savepoint, and the statements after it are in the role too.
func (t actingTx) Begin(ctx context.Context) (pgx.Tx, error) { return t.acting.Begin(ctx) }

// actingRows give the role back when they are closed.
type actingRows struct {
	pgx.Rows
	leave func() error
	left  bool
	err   error
}

// Close gives the role back, once.
func (r *actingRows) Close() {
	r.Rows.Close()
	if !r.left {
		r.left = true
		if err := r.leave(); r.Rows.Err() == nil {
			r.err = err
		}
	}
}

// Next closes the rows behind the last one, as pgx does, and so leaves the role.
func (r *actingRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Err is that of the rows, or why the role was not given back.
func (r *actingRows) Err() error { return errors.Join(r.Rows.Err(), r.err) }
