package command

import (
	"context"
	"fmt"
	"time"
)

// renewalsPerLease is how often a lease is renewed before it would run out: two
// renewals may fail without harm.
const renewalsPerLease = 3

// renewing starts to renew the lease. working is the work's context: it ends with
// ctx, and when the lease is lost, with ErrLeaseLost as the cause. held ends when it
// is lost, and goes on without the caller, as the work may that called somebody: the
// claim is the work's for as long as it runs. stop ends all and waits.
func (l *Lease) renewing(ctx context.Context) (working, held context.Context, stop func()) {
	held, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	working, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := l.renew(held); err != nil {
			lose(err)
			cancel(err)
		}
	}()
	return working, held, func() {
		lose(nil)
		cancel(nil)
		<-ended
	}
}

// renew renews until ctx ends, which is nil, or the lease is lost.
func (l *Lease) renew(ctx context.Context) error {
	every := max(l.command.Lease/renewalsPerLease, time.Millisecond)
	tick := time.NewTicker(every)
	defer tick.Stop()
	end := time.NewTimer(l.command.maxLease())
	defer end.Stop()
	for {
		last := time.NewTimer(time.Until(l.until))
		select {
		case <-ctx.Done():
			last.Stop()
			return nil
		case <-end.C:
			last.Stop()
			return fmt.Errorf("%w: it was renewed for %v, and no longer", ErrLeaseLost, l.command.maxLease())
		case <-last.C:
			if !l.completing.Load() {
				return fmt.Errorf("%w: it could not be renewed in time", ErrLeaseLost)
			}
			l.until = time.Now().Add(every) // the record itself is held; look again
		case <-tick.C:
			last.Stop()
			if mine := l.renewOnce(ctx, every); !mine {
				return fmt.Errorf("%w: another call took it over", ErrLeaseLost)
			}
		}
	}
}

// renewSQL renews what is still the owner's. The row may be locked, by the owner's
// own completion most likely: then nothing is waited for, and who the owner is
// says the second column.
const renewSQL = `
WITH free AS (
	SELECT c.id FROM fsm_command c
	WHERE c.id = $1 AND c.owner = $2 AND c.fence = $3 AND c.done_at IS NULL
	FOR NO KEY UPDATE OF c SKIP LOCKED
), renewed AS (
	UPDATE fsm_command AS c SET lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
	FROM free WHERE c.id = free.id
	RETURNING c.id
)
SELECT EXISTS (SELECT FROM renewed),
	EXISTS (SELECT FROM fsm_command c WHERE c.id = $1 AND c.owner = $2 AND c.fence = $3)`

// renewOnce renews, within the given time, and reports whether the lease may still
// be this owner's. Without an answer it may: the end of the lease decides then.
func (l *Lease) renewOnce(ctx context.Context, within time.Duration) (mine bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	lease := l.command.Lease
	until := time.Now().Add(lease)
	var renewed bool
	err := l.db.QueryRow(ctx, renewSQL, l.id, l.owner, l.fence, lease.Microseconds()).Scan(&renewed, &mine)
	if err != nil {
		return true
	}
	if renewed {
		l.until = until
	}
	return mine
}
