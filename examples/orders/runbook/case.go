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
var ErrClosed = errors.New("the case is closed already")

// closeCase takes a case of the shop off the list of what waits. The case stays as
// it was opened, so that the same delivery opens no second one; that it is closed,
// by whom and why, the audit row says.
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
			var closed bool
			if err := tx.QueryRow(ctx, "SELECT "+caseClosed+" FROM shop_cases AS c WHERE c.id = $1", id).Scan(&closed); err != nil {
				return err
			}
			if closed {
				return ErrClosed
			}
			return audit{"shop_cases", fmt.Sprint(id), 0, "close", "open", "closed"}.write(ctx, tx, who)
		})
	}, nil
}
