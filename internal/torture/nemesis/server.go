package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// kill ends the server as kill -9 would.
type kill struct{}

func (kill) Strike(_ context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	if err := t.Server.Kill(); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) { return 1, t.Server.Restart(ctx) }, nil
}

// freeze stops the server in the middle of all that it does.
type freeze struct{}

func (freeze) Strike(_ context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	if err := t.Server.Pause(); err != nil {
		return nil, errors.Join(err, t.Server.Resume())
	}
	return func(context.Context) (int, error) { return 1, t.Server.Resume() }, nil
}

// others are the backends of clients, and not of nemeses.
const others = `SELECT pid FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> '` + sessionName + `' ORDER BY pid`

// backends returns the pids of all clients' backends.
func backends(ctx context.Context, t *Target) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	conn, err := t.session(ctx)
	if err != nil {
		return nil, err
	}
	defer shut(conn)
	rows, err := conn.Query(ctx, others)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

var errNobody = errors.New("nobody is there")

// freezeOne stops one backend, with whatever it holds.
type freezeOne struct{}

func (freezeOne) Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error) {
	pids, err := backends(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(pids) == 0 {
		return nil, errNobody
	}
	pid := pids[r.IntN(len(pids))]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	return func(context.Context) (int, error) {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 1, err
		}
		return 1, nil
	}, nil
}

// terminate ends about half of the backends.
type terminate struct{}

func (terminate) Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error) {
	pids, err := backends(ctx, t)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for _, pid := range pids {
		if r.IntN(2) == 0 {
			chosen = append(chosen, pid)
		}
	}
	if err := end(ctx, t, chosen); err != nil {
		return nil, err
	}
	return func(context.Context) (int, error) { return len(chosen), nil }, nil
}

// end has the server end backends.
func end(ctx context.Context, t *Target, pids []int) error {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	conn, err := t.session(ctx)
	if err != nil {
		return err
	}
	defer shut(conn)
	_, err = conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid`, pids)
	return err
}

// clockJump has the server's clock go forward by up to three hours, and back. Timers
// that were set in between would run for hours: their backends are ended, as somebody
// who has set a clock back has to.
type clockJump struct{}

// MaxJump is the longest jump, in seconds.
const MaxJump = 3 * 60 * 60

func (clockJump) Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error) {
	if t.Clock == nil {
		return nil, errNobody
	}
	if err := t.Clock.Set(1 + r.IntN(MaxJump)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) {
		if err := t.Clock.Set(0); err != nil {
			return 1, err
		}
		t.Clock.await()
		pids, err := backends(ctx, t)
		if err == nil {
			err = end(ctx, t, pids)
		}
		return 1, err
	}, nil
}

// full fills the disk that the outbox is on.
type full struct{}

func (full) Strike(_ context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	if t.Disk == nil {
		return nil, errNobody
	}
	if err := t.Disk.Fill(); err != nil {
		return nil, errors.Join(err, t.Disk.Free())
	}
	return func(context.Context) (int, error) { return 1, t.Disk.Free() }, nil
}
