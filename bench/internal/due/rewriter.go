package due

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rewriter is a connection on which generated statements run as a scheme would have
// them. It is for one goroutine.
type rewriter struct {
	conn   *pgx.Conn
	scheme Scheme
	known  map[string]string
}

func newRewriter(conn *pgx.Conn, s Scheme) *rewriter {
	return &rewriter{conn, s, map[string]string{}}
}

func (r *rewriter) text(sql string) string {
	to, ok := r.known[sql]
	if !ok {
		to = r.scheme.Rewrite(sql)
		r.known[sql] = to
	}
	return to
}

// Query is that of the connection.
func (r *rewriter) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return r.conn.Query(ctx, r.text(sql), args...)
}

// QueryRow is that of the connection.
func (r *rewriter) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return r.conn.QueryRow(ctx, r.text(sql), args...)
}

// Exec is that of the connection.
func (r *rewriter) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return r.conn.Exec(ctx, r.text(sql), args...)
}

// Begin is that of the connection, whose statements stay as they are.
func (r *rewriter) Begin(ctx context.Context) (pgx.Tx, error) { return r.conn.Begin(ctx) }
