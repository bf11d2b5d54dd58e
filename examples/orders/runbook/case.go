package runbook

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// ErrClosed: the case was closed before. Nothing was done.
var ErrClosed = errors.New("it is closed already")

// closed says in SQL of a row of a table, which alias names, whether somebody has closed
// it. Such rows wait for a person and have no state of their own: that one is closed, by
// whom and why, its audit row says, and nothing else.
func closed(table, alias string) string {
	return "EXISTS (SELECT 1 FROM fsm_audit AS a WHERE a.machine = '" + table + "' AND a.key = " + alias + ".id::text AND a.action = 'close')"
}

// The rows that closed tells of.
const (
	cases   = "shop_cases"
	oddOnes = "fsm_deliveries"
)

// closeCase takes a case off the list of what waits. Its row stays as it was, so that the
// same delivery opens no second case.
func closeCase(text string) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the case is closed", fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			// Two persons at once: the second waits here, and then sees the first's row.
			err := tx.QueryRow(ctx, "SELECT c.id FROM shop_cases AS c WHERE c.id = $1 FOR UPDATE", id).Scan(nil)
			if errors.Is(err, pgx.ErrNoRows) {
				return fmt.Errorf("case: %w", fsm.ErrNotFound)
			}
			if err != nil {
				return err
			}
			var before bool
			if err := tx.QueryRow(ctx, "SELECT "+closed(cases, "c")+" FROM shop_cases AS c WHERE c.id = $1", id).Scan(&before); err != nil {
				return err
			}
			if before {
				return ErrClosed
			}
			return audit{cases, fmt.Sprint(id), 0, "close", "open", "closed"}.write(ctx, tx, who)
		})
	}, nil
}
