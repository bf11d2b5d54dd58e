package attemptriver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// migrateLock is the key of the advisory lock under which River's tables are
// migrated: the first eight bytes of "pawl_riv".
const migrateLock = 0x7061776c5f726976

// Migrate brings River's own tables up to date; it does nothing when they are.
// Processes that start together do it one after the other. The pool must allow
// two connections at least. Programs that keep all migrations in one place can
// take River's from `river migrate-get` instead.
func Migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	if pool == nil || pool.Config().MaxConns < 2 {
		return fmt.Errorf("%w: migrating River needs a pool of two connections", attempt.ErrArgument)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock(ctx, conn)) }()
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// unlock lets go of the lock, on the connection that holds it and also when ctx
// has ended. A connection that may still hold it must not go back to the pool.
func unlock(ctx context.Context, conn *pgxpool.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var held bool
	err := conn.QueryRow(ctx, `SELECT pg_advisory_unlock($1)`, int64(migrateLock)).Scan(&held)
	if err != nil || !held {
		return errors.Join(errors.New("the lock of River's migration was lost"), err, conn.Conn().Close(ctx))
	}
	return nil
}
