package runbook

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// ErrClosed: the case, or the delivery, was closed before. Nothing was done.
var ErrClosed = errors.New("it is closed already")

// closable is a table of what waits for a person without a state of its own: that a
// row is closed, by whom and why, its audit row says, and nothing else.
type closable struct {
	name, table string
	which       string // of the rows, named r, those that wait at first
}

var (
	cases   = closable{"case", "shop_cases", "true"}
	oddOnes = closable{"delivery", "fsm_deliveries", "r.verdicts && '{unreadable,conflict}'"}
)

// closed says in SQL of a row whether it is closed; alias names the row.
func (c closable) closed(alias string) string {
	return "EXISTS (SELECT 1 FROM fsm_audit AS a WHERE a.machine = '" + c.table + "' AND a.key = " + alias + ".id::text AND a.action = 'close')"
}

// closeRow takes a case of the shop, or an odd delivery, off the list of what waits.
// The row stays as it was, so that the same delivery opens no second case.
func closeRow(c closable, text string) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the " + c.name + " is closed", fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			// Two persons at once: the second waits here, and then sees the first's row.
			err := tx.QueryRow(ctx, "SELECT r.id FROM "+c.table+" AS r WHERE r.id = $1 AND "+c.which+" FOR UPDATE", id).Scan(nil)
			if errors.Is(err, pgx.ErrNoRows) {
				return fmt.Errorf("%s: %w", c.name, fsm.ErrNotFound)
			}
			if err != nil {
				return err
			}
			var closed bool
			if err := tx.QueryRow(ctx, "SELECT "+c.closed("r")+" FROM "+c.table+" AS r WHERE r.id = $1", id).Scan(&closed); err != nil {
				return err
			}
			if closed {
				return ErrClosed
			}
			return audit{c.table, fmt.Sprint(id), 0, "close", "open", "closed"}.write(ctx, tx, who)
		})
	}, nil
}
