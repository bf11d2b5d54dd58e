package relay

import (
	"context"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// Lag is how far deliveries are behind.
type Lag struct {
	// Waiting is how many messages wait, those of held keys included; Oldest is how
	// long the first of them has, by the database's clock and the times of the
	// calls, and 0 when none waits.
	Waiting int64
	Oldest  time.Duration
	// Held is how many keys are held up, parked ones included; Parked is how many
	// wait for a person.
	Held, Parked int64
}

const readLag = `SELECT
  (SELECT count(*) FROM fsm_outbox AS o),
  (SELECT (extract(epoch FROM clock_timestamp() - o.at) * 1000000)::float8 FROM fsm_outbox AS o WHERE isfinite(o.at) ORDER BY o.id LIMIT 1),
  (SELECT count(*) FROM fsm_outbox_holds AS h),
  (SELECT count(*) FROM fsm_outbox_holds AS h WHERE h.next_at IS NULL)`

// ReadLag counts what waits. It reads the whole of a queue, which is fast as long
// as the queue is short; ask it every few seconds rather than for each message.
func ReadLag(ctx context.Context, db fsm.DB) (Lag, error) {
	var lag Lag
	var micros *float64
	if err := db.QueryRow(ctx, readLag).Scan(&lag.Waiting, &micros, &lag.Held, &lag.Parked); err != nil {
		return Lag{}, told("read the lag", err)
	}
	if micros != nil {
		const most = float64(1 << 53) // 285 years, in microseconds
		lag.Oldest = time.Duration(min(max(*micros, 0), most)) * time.Microsecond
	}
	return lag, nil
}
