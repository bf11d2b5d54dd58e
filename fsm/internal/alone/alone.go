// Package alone runs statements that commit by themselves, whatever isolation level
// the server has by default.
package alone

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// ReadCommitted is the policy of a transaction of READ COMMITTED.
var ReadCommitted = fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted}}

const serializationFailure = "40001"

// Run runs one statement by run. Where the server's default is stricter than READ
// COMMITTED, a statement that met another transaction fails with 40001, having done
// nothing: then run runs again, in a transaction of that level. In a transaction of the
// caller's the level is the caller's, and so is the error.
func Run(ctx context.Context, db fsm.DB, run func(ctx context.Context, db fsm.DB) error) error {
	err := run(ctx, db)
	var failure interface{ SQLState() string }
	own, ok := db.(fsm.TxBeginner)
	if !ok || !errors.As(err, &failure) || failure.SQLState() != serializationFailure {
		return err
	}
	return fsm.RunTx(ctx, own, ReadCommitted, func(ctx context.Context, tx pgx.Tx) error { return run(ctx, tx) })
}

// Exec runs a statement as Run does, and returns how many rows it changed.
func Exec(ctx context.Context, db fsm.DB, sql string, args ...any) (n int64, err error) {
	err = Run(ctx, db, func(ctx context.Context, db fsm.DB) error {
		tag, err := db.Exec(ctx, sql, args...)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
