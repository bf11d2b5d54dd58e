package needs

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// stand is a test that only records how it was ended.
type stand struct {
	testing.TB
	failed, skipped string
}

func (s *stand) Helper() {}

func (s *stand) Fatal(args ...any) {
	s.failed = args[0].(string)
	runtime.Goexit()
}

func (s *stand) Skip(args ...any) {
	s.skipped = args[0].(string)
	runtime.Goexit()
}

// ended runs use as a test of its own and returns how it ended.
func ended(t *testing.T, use func(testing.TB)) *stand {
	t.Helper()
	s := &stand{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		use(s)
	}()
	<-done
	return s
}

func TestMissingProgramSkipsAtHomeAndFailsInCI(t *testing.T) {
	use := func(tb testing.TB) { Command(tb, "no-such-program", "some-package") }
	const want = "no-such-program is missing: apt-get install some-package"
	t.Setenv("CI", "")
	require.Equal(t, want, ended(t, use).skipped)
	t.Setenv("CI", "true")
	require.Equal(t, want, ended(t, use).failed)
}

func TestMissingBrowser(t *testing.T) {
	t.Setenv("CI", "true")
	t.Setenv("PATH", t.TempDir())
	require.Contains(t, ended(t, func(tb testing.TB) { Chromium(tb) }).failed, "apt-get install chromium")
}

func TestProgramThatIsThere(t *testing.T) {
	t.Parallel()
	want, err := exec.LookPath("go")
	require.NoError(t, err)
	require.Equal(t, want, Command(t, "go", "golang"))
}

// Node runs a script of the folder, which sees the browser.
func TestNode(t *testing.T) {
	t.Parallel()
	cmd := Node(t, "mermaid.mjs")
	require.Contains(t, cmd.Env, "CHROMIUM="+Chromium(t))
	require.FileExists(t, cmd.Args[1])
	require.DirExists(t, cmd.Dir)
}
