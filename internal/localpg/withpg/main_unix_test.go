//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// actEnv makes the test binary withpg itself ("withpg"), or the command that it
// runs ("probe": prints whether the server answers).
const actEnv = "WITHPG_TEST_ACT"

func TestMain(m *testing.M) {
	switch os.Getenv(actEnv) {
	case "withpg":
		_ = os.Setenv(actEnv, "probe")
		main()
	case "probe":
		os.Exit(probe())
	}
	os.Exit(m.Run())
}

// probe prints the server's URL when it answers and ends with code 7.
func probe() int {
	url := os.Getenv(urlVariable)
	if err := ping(url); err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString(url + "\n")
	return 7
}

func ping(url string) error {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// withpg prepares a call without a server in its environment.
func withpg(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, urlVariable+"=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, actEnv+"=withpg")
	return cmd
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), "%v", err)
	return exit.ExitCode()
}

func TestServerForTheCommand(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	out, err := withpg(t, "--", self).Output()
	require.Equal(t, 7, exitCode(t, err), "the command's own code")
	url := strings.TrimSpace(string(out))
	require.True(t, strings.HasPrefix(url, "postgres://"), url)
	require.Error(t, ping(url), "the server should have stopped with the command")
}

func TestServerThatIsThere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		code int
		out  string
		says string
	}{
		{name: "is handed on", args: []string{"--", "sh", "-c", "echo $" + urlVariable + "; cat"}, out: "postgres://there/x\ninput\n"},
		{name: "without the dashes", args: []string{"sh", "-c", "exit 3"}, code: 3},
		{name: "a command that a signal ends", args: []string{"--", "sh", "-c", "kill -TERM $$"}, code: 128 + 15},
		{name: "no command", args: []string{"--"}, code: 2, says: "usage: withpg -- command"},
		{name: "an unknown command", args: []string{"--", "no-such-command-here"}, code: 127, says: "no-such-command-here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := withpg(t, tc.args...)
			cmd.Env = append(cmd.Env, urlVariable+"=postgres://there/x")
			cmd.Stdin = strings.NewReader("input\n")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			require.Equal(t, tc.code, exitCode(t, err))
			require.Equal(t, tc.out, string(out))
			require.Contains(t, stderr.String(), tc.says)
		})
	}
}

func TestSignalReachesTheCommand(t *testing.T) {
	t.Parallel()
	cmd := withpg(t, "--", "sh", "-c", `trap 'echo told; exit 9' TERM; echo ready; read -r line`)
	cmd.Env = append(cmd.Env, urlVariable+"=postgres://there/x")
	stdin, stdinEnd, err := os.Pipe() // nothing ever comes, so the command waits for the signal
	require.NoError(t, err)
	t.Cleanup(func() { _ = stdinEnd.Close() })
	cmd.Stdin = stdin
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, stdin.Close())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	require.Equal(t, "ready", lines.Text())

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))

	require.True(t, lines.Scan())
	require.Equal(t, "told", lines.Text())
	require.Equal(t, 9, exitCode(t, cmd.Wait()))
}
