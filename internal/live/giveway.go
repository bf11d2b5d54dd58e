package live

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// readWhole is read for what reads a table whole, for up to Long. It holds ACCESS SHARE
// all the while, which is in nobody's way but a migration's, and behind that
// everybody's. So the other connection looks every tenth of a second whether somebody
// waits for a lock that this one has, and then it ends with ErrBusy. When nobody could
// look for as long as blind, since that connection has other work, it ends with ErrSlow.
func (d *Database) readWhole(ctx context.Context, table string, do func(context.Context, pgx.Tx) error) error {
	whole, cancel := context.WithCancelCause(ctx)
	done, watched := make(chan struct{}), make(chan struct{})
	watches := false
	err := d.read(whole, d.long, "", func(ctx context.Context, tx pgx.Tx) error {
		session, err := pick[int32](ctx, tx, "SELECT pg_backend_pid()") // a pooler gave the connection a number of its own
		if err != nil {
			return err
		}
		watches = true
		go func() {
			defer close(watched)
			d.giveWay(whole, session, table, done, cancel)
		}()
		return do(ctx, tx)
	})
	close(done)
	cancel(nil)
	if watches {
		<-watched
	}
	return err
}

// inTheWay asks whether somebody waits for a relation that the session of $1 has locked.
const inTheWay = `SELECT EXISTS (SELECT FROM pg_locks AS h JOIN pg_locks AS w ON w.locktype = 'relation' AND w.database = h.database AND w.relation = h.relation
WHERE h.pid = $1 AND h.locktype = 'relation' AND h.granted AND NOT w.granted AND w.pid <> $1)`

// blind is how long a table is read while nobody looks whether that is in the way.
const blind = 2 * time.Second

// giveWay ends ctx when somebody waits for what the session has locked, until done.
func (d *Database) giveWay(ctx context.Context, session int32, table string, done <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(lockWait)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		look, cancel := context.WithTimeout(ctx, blind)
		var waits bool
		err := d.read(look, d.quick, "", func(ctx context.Context, tx pgx.Tx) (err error) {
			waits, err = pick[bool](ctx, tx, inTheWay, session)
			return err
		})
		cancel()
		switch {
		case waits:
			end(&Error{Kind: ErrBusy, Relation: table})
			return
		case err != nil && ctx.Err() == nil: // who cannot look gives way, too
			end(&Error{Kind: ErrSlow, Relation: table, Err: err})
			return
		}
	}
}
