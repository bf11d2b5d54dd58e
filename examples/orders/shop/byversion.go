package shop

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// versionTries is how often a change by version alone is tried: under many
// writers of one row each round lets but one through.
const versionTries = 100

// byVersion runs change in a transaction, and again from the start when the row
// that it read has changed before its write: change returns how many rows its
// guarded UPDATE wrote, and 0 is that. Everything that change did is rolled back
// then, so it reads and decides anew each time.
//
// It returns change's own error, and a retryable one when others were faster
// each time. There is no lock and no state machine in this: where one row is
// written by many at once, one statement that computes (quantity >= n) beats it.
func (s *Service) byVersion(ctx context.Context, change func(ctx context.Context, tx pgx.Tx) (written int64, err error)) error {
	policy := fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, Attempts: versionTries}
	return fsm.RunTx(ctx, s.pool, policy, func(ctx context.Context, tx pgx.Tx) error {
		written, err := change(ctx, tx)
		if err == nil && written == 0 {
			return fsm.ErrContended
		}
		return err
	})
}
