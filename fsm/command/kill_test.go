package command_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/fault"
)

const (
	childPoint  = "PAWL_COMMAND_CHILD_POINT"
	childPolicy = "PAWL_COMMAND_CHILD_POLICY"
	childURL    = "PAWL_COMMAND_CHILD_URL"
)

// TestKill kills a process at each point, as kill -9 would, and sends the command
// again. In a transaction nothing stays behind: the next call works at once. Under
// a lease the claim stays for as long as that, and no longer. (A time-out left the
// record in progress for as long as it was kept.) After the COMMIT the reply is
// given.
func TestKill(t *testing.T) {
	if point := os.Getenv(childPoint); point != "" {
		require.NoError(t, fault.Arm(point+"=kill"))
		pool, err := pgxpool.New(t.Context(), os.Getenv(childURL))
		require.NoError(t, err)
		send(t, pool, os.Getenv(childPolicy), "child") // never returns
		return
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, policy := range []string{"transaction", "leased"} {
		for _, point := range []fault.Point{command.PointClaimed, command.PointDone, command.PointCommitted} {
			t.Run(policy+" "+string(point), func(t *testing.T) {
				t.Parallel()
				pool := open(t)
				cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKill$")
				cmd.Env = append(os.Environ(), childPoint+"="+string(point), childPolicy+"="+policy,
					childURL+"="+pool.Config().ConnString())
				var ended *exec.ExitError
				require.ErrorAs(t, cmd.Run(), &ended)
				require.Equal(t, syscall.SIGKILL, ended.Sys().(syscall.WaitStatus).Signal())

				if policy == "leased" && point != command.PointCommitted {
					_, err := send(t, pool, policy, "too early")
					require.ErrorIs(t, err, command.ErrInProgress)
					runOut(t, pool)
				}
				got, err := send(t, pool, policy, "second")
				require.NoError(t, err)
				require.Equal(t, point == command.PointCommitted, got.Replayed)
				require.Equal(t, 1, ledger(t, pool))
			})
		}
	}
}

// send sends the command by its policy.
func send(t *testing.T, pool *pgxpool.Pool, policy, who string) (command.Answer, error) {
	c := leased()
	if policy == "leased" {
		return c.DoLeased(t.Context(), pool, payment("k", `{}`), booking(pool, who))
	}
	return c.Do(t.Context(), pool, payment("k", `{}`), pay)
}
