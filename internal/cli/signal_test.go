//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the process that is signalled.
func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_SIGNALLED") != "" {
		ctx, stop := interruptible()
		defer stop()
		fmt.Println("running")
		<-ctx.Done()
		fmt.Println("stopping")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // held up until the test ends
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// The first signal ends the context, the second the process.
func TestASecondSignalKills(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		held, release, err := os.Pipe()
		require.NoError(t, err)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PAWL_TEST_SIGNALLED=1")
		child.Stdin = held
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		for _, want := range []string{"running", "stopping"} {
			require.True(t, lines.Scan())
			require.Equal(t, want, lines.Text())
			require.NoError(t, child.Process.Signal(sig))
		}
		var exit *exec.ExitError
		require.ErrorAs(t, child.Wait(), &exit)
		status, ok := exit.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		require.True(t, status.Signaled(), "it went on after the second signal: %v", exit)
		require.Equal(t, sig, status.Signal())
		require.NoError(t, release.Close())
		require.NoError(t, held.Close())
	}
}
