// Package meter counts what work costs a server, in figures that a busy machine
// does not change: WAL, buffers, and updates that stay on their page.
package meter

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Counts is what some work came to. WAL is the whole server's, the rest that of the
// database or of one table.
type Counts struct {
	WALRecords, WALBytes, WALImages float64
	// Buffers are pages that were looked up, in memory or not.
	Buffers float64
	// Updates are rows updated of the table, HOT those of them that needed no new
	// entry in an index.
	Updates, HOT float64
}

const read = `SELECT w.wal_records::float8, w.wal_bytes::float8, w.wal_fpi::float8, (d.blks_hit + d.blks_read)::float8,
  COALESCE(t.n_tup_upd, 0)::float8, COALESCE(t.n_tup_hot_upd, 0)::float8
FROM pg_stat_wal AS w CROSS JOIN pg_stat_database AS d LEFT JOIN pg_stat_user_tables AS t ON t.relid = to_regclass($1)
WHERE d.datname = current_database()`

// Of runs work on a connection of its own, which does not wait for the disk, and counts what happens until that is
// gone: a connection tells what it did at its end. What others do meanwhile is
// counted with it, except the reading itself. A table that does not exist has no
// updates.
func Of(ctx context.Context, url, table string, work func(conn *pgx.Conn) error) (c Counts, err error) {
	before, err := now(ctx, url, table)
	if err != nil {
		return c, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return c, err
	}
	pid := conn.PgConn().PID()
	// What is timed is the work, and not a disk that others use as well.
	if _, err = conn.Exec(ctx, "SET synchronous_commit = off"); err == nil {
		err = work(conn)
	}
	if closed := conn.Close(context.WithoutCancel(ctx)); err == nil {
		err = closed
	}
	if err != nil {
		return c, err
	}
	if err := gone(ctx, url, "pid = $1", int64(pid)); err != nil {
		return c, err
	}
	after, err := now(ctx, url, table)
	return after.less(before), err
}

// now reads the counters on a connection that is new, so that what it did itself is
// told of later, and the same each time.
func now(ctx context.Context, url, table string) (c Counts, err error) {
	err = once(ctx, url, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, read, table).Scan(&c.WALRecords, &c.WALBytes, &c.WALImages, &c.Buffers, &c.Updates, &c.HOT)
	})
	return c, err
}

// patience is how long a connection that was closed may take to be gone.
const patience = 10 * time.Second

// Rest has a pool's connections tell all that they did, so that nothing of it is
// counted later. It returns when nobody else is in the database.
func Rest(ctx context.Context, url string, pool *pgxpool.Pool) error {
	pool.Reset()
	return gone(ctx, url, "datname = current_database() AND pid <> pg_backend_pid()")
}

// gone returns when the server knows no connection of a condition any more. Those
// that are gone have told their counts.
func gone(ctx context.Context, url, condition string, args ...any) error {
	return once(ctx, url, func(conn *pgx.Conn) error {
		for until := time.Now().Add(patience); time.Now().Before(until); {
			var there bool
			err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND "+condition+")", args...).Scan(&there)
			if err != nil || !there {
				return err
			}
			time.Sleep(time.Millisecond) // between two looks
		}
		return fmt.Errorf("connections of %s do not end", condition)
	})
}

func once(ctx context.Context, url string, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return use(conn)
}

func (c Counts) less(d Counts) Counts {
	return Counts{c.WALRecords - d.WALRecords, c.WALBytes - d.WALBytes, c.WALImages - d.WALImages, c.Buffers - d.Buffers, c.Updates - d.Updates, c.HOT - d.HOT}
}

// Plus adds counts up.
func (c Counts) Plus(d Counts) Counts { return c.less(Counts{}.less(d)) }

// Per is the share of each of n.
func (c Counts) Per(n int) Counts {
	f := float64(max(n, 1))
	return Counts{c.WALRecords / f, c.WALBytes / f, c.WALImages / f, c.Buffers / f, c.Updates / f, c.HOT / f}
}

// HOTShare is HOT updates of all, between 0 and 1; 0 when there was none.
func (c Counts) HOTShare() float64 {
	if c.Updates == 0 {
		return 0
	}
	return c.HOT / c.Updates
}
