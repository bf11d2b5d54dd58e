package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/internal/sqlname"
)

const (
	// connections is the most that are open at once: one reads figures, and one
	// looks for rows, and whether the first is in somebody's way.
	connections = 2
	// connectWait bounds a connect, and lockWait the wait for a lock.
	connectWait = 3 * time.Second
	lockWait    = 100 * time.Millisecond
	// Quick bounds whatever goes by an index, and Long a count of a whole table.
	Quick = 2 * time.Second
	Long  = 5 * time.Second
)

// Database is where rows live. The caller must Close it.
type Database struct {
	pool *pgxpool.Pool
	role string
	// quick and long are Quick and Long, but in tests.
	quick, long time.Duration
}

// Open returns the database of a URL or keyword string, which is not connected to
// before something is asked: one that is down is found when it is up. The error
// is ErrURL.
func Open(url string) (*Database, error) { return open(url, nil) }

// open is Open with a tracer, which may be nil.
func open(url string, tracer pgx.QueryTracer) (*Database, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, ErrURL
	}
	config.MaxConns, config.MinConns, config.MinIdleConns = connections, 0, 0
	config.MaxConnIdleTime = time.Minute
	of := config.ConnConfig
	of.Tracer = tracer
	if of.ConnectTimeout == 0 || of.ConnectTimeout > connectWait {
		of.ConnectTimeout = connectWait
	}
	of.RuntimeParams["application_name"] = "fsmgen studio"
	// Nothing is prepared, so that a pooler of transactions may sit in between.
	of.DefaultQueryExecMode = pgx.QueryExecModeExec
	// Who gives up a query ends it on the server too, and keeps the connection.
	of.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, ErrURL
	}
	return &Database{pool: pool, role: of.User, quick: Quick, long: Long}, nil
}

// Role is the user of the connection string.
func (d *Database) Role() string { return d.role }

// Close ends the connections, and waits for queries under way.
func (d *Database) Close() { d.pool.Close() }

// probing keeps the planner to indexes wherever there is one.
const probing = "SET LOCAL enable_seqscan = off; "

// texts has values come as pgx reads them, whatever the role or the database has set.
const texts = "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL bytea_output = 'hex'; SET LOCAL client_encoding = 'UTF8'; "

// read calls do in a read-only transaction of one snapshot, each statement of which
// may take as long as bound; do's context ends when there is no more time. The error is an *Error, or ctx's.
func (d *Database) read(ctx context.Context, bound time.Duration, settings string, do func(context.Context, pgx.Tx) error) error {
	within, cancel := context.WithTimeoutCause(ctx, bound+connectWait, &Error{Kind: ErrAway, Err: context.DeadlineExceeded})
	defer cancel()
	begin := fmt.Sprintf(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = %d;
SET LOCAL idle_in_transaction_session_timeout = %d; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off; %s%s`,
		bound.Milliseconds(), lockWait.Milliseconds(), (bound + connectWait).Milliseconds(), texts, settings)
	err := pgx.BeginTxFunc(within, d.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error {
		err := do(within, tx)
		if err != nil && errors.Is(context.Cause(within), context.DeadlineExceeded) && !tx.Conn().IsClosed() {
			return &Error{Kind: ErrSlow, Err: err} // the server is there, and ended it when asked to
		}
		return err
	})
	if errors.Is(err, pgx.ErrTxClosed) { // what ended it was told by the statement before
		err = &Error{Kind: ErrAway, Err: err}
	}
	return classify(within, err)
}

// pick is the value of a query of one row and column.
func pick[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) (T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
}

// all are the rows of a query, by the fields of T in order.
func all[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

func ident(name string) string { return sqlname.Ident(name) }
