package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram has this test's program be fsmgen, with these arguments.
const asProgram = "PAWL_TEST_FSMGEN"

func TestAsAProgram(t *testing.T) {
	args, asked := os.LookupEnv(asProgram)
	if !asked {
		t.Skip("it is for the others here")
	}
	os.Args = append([]string{"fsmgen"}, strings.Fields(args)...)
	os.Exit(Main())
}

func program(t *testing.T, args string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAsAProgram$")
	cmd.Env = append(os.Environ(), asProgram+"="+args)
	return cmd
}

// Whoever starts a studio has it end with the pipe that they hold: they need not live to
// say so.
func TestAStudioEndsWithItsInput(t *testing.T) {
	t.Parallel()
	cmd := program(t, "studio -C ../.. --addr 127.0.0.1:0 --stdin")
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(output)
	address, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*/\n$`, address)
	_, err = io.WriteString(input, "what is said does not matter\n")
	require.NoError(t, err)
	require.NoError(t, input.Close())
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.NoError(t, cmd.Wait(), "it ended well")
}
