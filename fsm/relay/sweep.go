package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// sweepSent deletes the oldest of what was sent: $1 is how long to keep it, in
// microseconds, $2 how many rows at most. Rows that another sweep has are passed
// over.
const sweepSent = `DELETE FROM fsm_outbox_sent AS s
USING (
  SELECT o.id FROM fsm_outbox_sent AS o
  WHERE o.sent_at < now() - $1::bigint * interval '1 microsecond'
  ORDER BY o.sent_at, o.id LIMIT $2::integer
  FOR UPDATE SKIP LOCKED
) AS old
WHERE s.id = old.id`

// SweepPage is how many rows Sweep deletes at once.
const SweepPage = 1000

// Sweep deletes what was sent longer ago than keep, page by page, the oldest
// first, and returns how many rows it deleted, 0 and nil when there are none. On a
// pool or connection each page commits by itself, and what was deleted before
// an error or the end of ctx stays deleted. Many may run at once. Rows that were
// set aside are kept for good.
//
// The error is ErrArgument when keep is not positive, ErrTables, or the
// database's.
func Sweep(ctx context.Context, db fsm.DB, keep time.Duration) (int64, error) {
	if keep <= 0 {
		return 0, fmt.Errorf("%w: keep is not positive", ErrArgument)
	}
	deleted := int64(0)
	for {
		n, err := alone.Exec(ctx, db, sweepSent, keep.Microseconds(), SweepPage)
		if err != nil {
			return deleted, told("sweep", err)
		}
		deleted += n
		if n < SweepPage {
			return deleted, nil
		}
	}
}
