package testpatroni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const actEnv = "TESTPATRONI_TEST_ACT"

func TestMain(m *testing.M) {
	if os.Getenv(actEnv) != "" { // a test whose process is killed
		dies()
		return
	}
	os.Exit(m.Run())
}

// alone is a testing.TB without a test around it.
type alone struct {
	testing.TB
}

func (alone) Helper()                           {}
func (alone) Cleanup(func())                    {}
func (alone) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (alone) Skip(args ...any)                  { panic(fmt.Sprint(args...)) }
func (alone) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }
func (alone) FailNow()                          { panic("failed") }

// dies starts a cluster, says where it is, and waits to be killed.
func dies() {
	c := Start(alone{}, Options{Nodes: 1})
	fmt.Println(c.folder)
	select {}
}

// The whole cluster ends with the test's process, and its folder too.
func TestAClusterEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	programs(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), actEnv+"=yes")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	line := make([]byte, 200)
	n, err := out.Read(line)
	require.NoError(t, err)
	folder := strings.TrimSpace(string(line[:n]))
	require.DirExists(t, folder)
	require.NotEmpty(t, withArgument(t, folder))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(poll) { // between two looks
		if _, err := os.Stat(folder); os.IsNotExist(err) {
			break
		}
		require.True(t, time.Now().Before(until), "%s stays", folder)
	}
	require.Empty(t, withArgument(t, folder))
}

// withArgument are the processes that have the folder in their arguments.
func withArgument(t *testing.T, folder string) (pids []string) {
	t.Helper()
	processes, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, p := range processes {
		if command, err := os.ReadFile("/proc/" + p.Name() + "/cmdline"); err == nil && bytes.Contains(command, []byte(folder+"/")) {
			pids = append(pids, p.Name())
		}
	}
	return pids
}

// A cluster is whole when Patroni knows who may take over, and not as soon as COMMITs
// wait for a standby: a primary that is killed before has nobody take over.
func TestAClusterIsWholeWhenItHasAnHeir(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{Nodes: 2, Synchronous: true})
	primary := c.Primary()
	standby := c.Standbys()[0]
	signal(syscall.SIGSTOP, primary.patroni.Process.Pid) // it would write it down again
	value := fmt.Sprintf(`{"leader": %q, "sync_standby": null}`, primary.Name)
	body, err := json.Marshal(map[string][]byte{"key": []byte("/service/pawl/sync"), "value": []byte(value)}) // in base64, as etcd has it
	require.NoError(t, err)
	answer, err := http.Post("http://"+c.etcd+"/v3/kv/put", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	waits := ""
	require.NoError(t, c.ask("SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'", &waits))
	require.Equal(t, standby.Name, waits)
	require.ErrorIs(t, c.whole(), errNot)

	signal(syscall.SIGCONT, primary.patroni.Process.Pid)
	c.AwaitWhole()
	heirs, err := c.heirs()
	require.NoError(t, err)
	require.Equal(t, []string{standby.Name}, heirs)
}
