package lockredis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

// The environment variables of the child process, which holds a lock.
const (
	childRedis = "PAWL_LOCK_REDIS"
	childURL   = "PAWL_LOCK_DATABASE"
)

// A process stopped for longer than the TTL, as by garbage collection or on a full
// machine, works on when it goes on. It learns that it has lost the lock, what it
// writes is refused, and its release is nobody else's.
func TestStoppedProcess(t *testing.T) {
	if addr := os.Getenv(childRedis); addr != "" {
		holdInChild(t, addr, os.Getenv(childURL))
		return
	}
	t.Parallel()
	s := open(t)
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestStoppedProcess$")
	child.Env = append(os.Environ(), childRedis+"="+s.redis.Addr, childURL+"="+s.pool.Config().ConnString())
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(out)
	next := func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "child: "); ok {
				return text
			}
		}
		return "nothing more"
	}
	require.Equal(t, "holds 1", next())
	require.NoError(t, child.Process.Signal(syscall.SIGSTOP))
	err = s.locker(lasting).With(t.Context(), name, func(ctx context.Context, held lock.Held) error {
		owner := s.owner()
		require.EqualValues(t, 2, held.Fence())
		require.EqualValues(t, 1, s.fenced(held.Fence()))
		require.NoError(t, child.Process.Signal(syscall.SIGCONT))
		require.Equal(t, "lost true", next())
		require.Equal(t, "changed 0 rows", next())
		require.Equal(t, "released, lost true", next())
		require.Equal(t, owner, s.owner())
		return ctx.Err()
	})
	require.NoError(t, err)
	require.NoError(t, child.Wait())
	require.Equal(t, 99, s.balance())
}

func holdInChild(t *testing.T, addr, url string) {
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, url)
	require.NoError(t, err)
	defer pool.Close()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	require.NoError(t, err)
	defer client.Close()
	l, err := lockredis.New(client, pool, short)
	require.NoError(t, err)
	err = l.With(ctx, name, func(ctx context.Context, held lock.Held) error {
		fmt.Println("child: holds", held.Fence())
		<-ctx.Done()
		fmt.Println("child: lost", errors.Is(context.Cause(ctx), lock.ErrLost))
		tag, err := pool.Exec(context.WithoutCancel(ctx), fencedSQL, held.Fence())
		fmt.Println("child: changed", tag.RowsAffected(), "rows")
		return err
	})
	fmt.Println("child: released, lost", errors.Is(err, lock.ErrLost))
}
