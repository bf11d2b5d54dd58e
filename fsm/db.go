package fsm

import (
	"context"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DB is where a call runs: *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn, pgx.Tx, or
// a database/sql transaction through [SQLTx].
//
// On a pool or a connection a call commits by itself. In a transaction it
// neither commits nor rolls back, and its outcome is provisional until the
// caller commits.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	// Begin starts a transaction, or a savepoint when DB is one already.
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx reports whether a transaction of the caller's is open on db: it is one,
// or it is a connection that the server says is in one. A wrapper that is
// neither shows nothing, and counts as one that commits by itself. Nil is in none.
func InTx(db any) bool {
	var conn *pgx.Conn
	switch is := db.(type) {
	case pgx.Tx:
		return true
	case *pgx.Conn:
		conn = is
	case interface{ Conn() *pgx.Conn }: // *pgxpool.Conn
		if v := reflect.ValueOf(is); v.Kind() != reflect.Pointer || !v.IsNil() {
			conn = is.Conn()
		}
	}
	return conn != nil && conn.PgConn().TxStatus() != 'I'
}
