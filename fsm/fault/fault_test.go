package fault_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
)

const point fault.Point = "test.point"

func TestNothingIsArmed(t *testing.T) {
	t.Parallel()
	require.NoError(t, fault.At(t.Context(), point))
}

func TestWith(t *testing.T) {
	t.Parallel()
	var order []string
	note := func(name string, err error) fault.Action {
		return func(context.Context) error {
			order = append(order, name)
			return err
		}
	}
	boom := errors.New("boom")
	ctx := fault.With(t.Context(), point, note("first", boom))
	ctx = fault.With(ctx, "test.other", note("other", boom))
	ctx = fault.With(ctx, point, note("last", nil))
	require.Equal(t, boom, fault.At(ctx, point))
	require.Equal(t, []string{"last", "first"}, order)
	require.NoError(t, fault.At(t.Context(), point), "another context")
}

func TestNth(t *testing.T) {
	t.Parallel()
	ctx := fault.With(t.Context(), point, fault.Nth(2, fault.Fail))
	require.NoError(t, fault.At(ctx, point))
	require.ErrorIs(t, fault.At(ctx, point), fault.ErrInjected)
	require.NoError(t, fault.At(ctx, point))
}

func TestArm(t *testing.T) { // arms the process, so not parallel
	t.Cleanup(func() { require.NoError(t, fault.Arm("")) })
	require.NoError(t, fault.Arm("test.point=error@2,test.other=error"))
	require.NoError(t, fault.At(t.Context(), point))
	require.ErrorIs(t, fault.At(t.Context(), point), fault.ErrInjected)
	require.ErrorIs(t, fault.At(t.Context(), "test.other"), fault.ErrInjected)
	require.NoError(t, fault.Arm(""))
	require.NoError(t, fault.At(t.Context(), "test.other"))
	for _, bad := range []string{"x", "=kill", "p=", "p=sleep", "p=kill@", "p=kill@0", "p=error@-1", "p=error@x"} {
		require.ErrorIs(t, fault.Arm(bad), fault.ErrSpec, bad)
	}
}

const child = "PAWL_FAULT_CHILD"

func TestKill(t *testing.T) {
	if spec := os.Getenv(child); spec != "" {
		require.NoError(t, fault.Arm(spec))
		_ = fault.At(t.Context(), point)
		return
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), child+"=test.point=kill")
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &ended)
	status, ok := ended.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal())
}
