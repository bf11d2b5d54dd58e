package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// WALSettings are those of a server whose write-ahead log is on a disk of [WALSize]: it
// has room for what the log takes usually, and a panic ends the server, which is started
// again when there is room.
var WALSettings = [][2]string{{"max_wal_size", "128MB"}, {"min_wal_size", "32MB"}, {"restart_after_crash", "off"}}

// WALSize is the size of the disk of the log, in MiB.
const WALSize = 256

const (
	// fullTimeout bounds how long a server with a full disk may go on.
	fullTimeout = 30 * time.Second

	// holdLog keeps segments of the log from being used again, as a replica that is
	// behind does: a server that needs no new ones bears a full disk. It is gone with its
	// session.
	holdLog = `SELECT pg_create_physical_replication_slot('torture', immediately_reserve => true, temporary => true)`

	// writeLog writes a MiB to the log, and nothing else.
	writeLog = `SELECT pg_logical_emit_message(false, 'torture', repeat('x', 1048576))`
)

// fullWAL fills the disk that the write-ahead log is on, and writes to what is left of
// the log until the server panics.
type fullWAL struct{}

func (fullWAL) Strike(ctx context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	if t.WAL == nil {
		return nil, errNobody
	}
	ctx, cancel := context.WithTimeout(ctx, fullTimeout)
	defer cancel()
	conn, err := t.session(ctx)
	if err != nil {
		return nil, err
	}
	defer shut(conn)
	if _, err := conn.Exec(ctx, holdLog); err != nil {
		return nil, err
	}
	panicked := errors.Join(fillLog(ctx, t, conn), t.Server.AwaitEnd(ctx)) == nil
	return func(ctx context.Context) (int, error) {
		hits := 0
		if panicked {
			hits = 1
		}
		// A server that has not ended may do so yet: it is not left to itself.
		if err := errors.Join(t.WAL.Free(), t.Server.Kill()); err != nil {
			return hits, err
		}
		return hits, t.Server.Restart(ctx)
	}, nil
}

// fillLog returns nil when the session is lost for want of room.
func fillLog(ctx context.Context, t *Target, conn *pgx.Conn) error {
	for range 2 * WALSize {
		if err := t.WAL.Fill(); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, writeLog); err != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%d MiB were written to a disk of %d", 2*WALSize, WALSize)
}
