package relay_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// The variables by which a test tells its child what to do.
const (
	childDatabase = "PAWL_RELAY_CHILD_DATABASE"
	childFault    = "PAWL_RELAY_CHILD_FAULT"
)

// child delivers what there is, three at a time, to the standard output, until nothing is
// left: the claim of the child before it lasts until the server notices its end.
func child(t *testing.T) {
	require.NoError(t, fault.Arm(os.Getenv(childFault)))
	pool, err := pgxpool.New(t.Context(), os.Getenv(childDatabase))
	require.NoError(t, err)
	defer pool.Close()
	r := &relay.Relay{DB: pool, Batch: 3, Parallel: 1, Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error {
		_, err := fmt.Printf("sent %s %s %d\n", m.ID, m.Key, m.Version)
		return err
	})}
	for n := 1; n > 0; n = count(t, pool, "fsm_outbox") {
		once(t, r)
	}
}

// startChild returns what the child sent, and whether it was killed.
func startChild(t *testing.T, url, spec string) (sent []string, killed bool) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), childDatabase+"="+url, childFault+"="+spec)
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		status, ok := ended.Sys().(syscall.WaitStatus)
		require.True(t, ok && status.Signal() == syscall.SIGKILL, "%s%s", out, ended.Stderr)
		killed = true
	} else {
		require.NoError(t, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if line, ok := bytes.CutPrefix(lines.Bytes(), []byte("sent ")); ok {
			sent = append(sent, string(line))
		}
	}
	return sent, killed
}

// A relay that is killed again and again between sending and marking, and after
// marking, gets everything delivered: in order, with no more duplicates than a
// crash can leave.
func TestKilled(t *testing.T) {
	if os.Getenv(childDatabase) != "" {
		child(t)
		return
	}
	t.Parallel()
	for _, c := range []struct {
		spec  string
		again int // messages that each crash has sent again
	}{{"relay.sent=kill@4", 1}, {"relay.sent=kill@6", 3}, {"relay.marked=kill@1", 0}} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			const events = 9
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			pool, err := pgxpool.New(t.Context(), url)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			for v := range events {
				emit(t, pool, "a", v+1)
			}
			seen, order, twice, crashes := map[string]bool{}, []string{}, 0, 0
			for killed := true; killed; {
				var sent []string
				if sent, killed = startChild(t, url, c.spec); killed {
					crashes++
				}
				for _, line := range sent {
					if seen[line] {
						twice++
						continue
					}
					seen[line] = true
					order = append(order, line[len(line)-len("a 1"):])
				}
			}
			require.Equal(t, []string{"a 1", "a 2", "a 3", "a 4", "a 5", "a 6", "a 7", "a 8", "a 9"}, order)
			require.Positive(t, crashes)
			require.Equal(t, crashes*c.again, twice)
			require.Equal(t, events, count(t, pool, "fsm_outbox_sent"))
			require.Zero(t, count(t, pool, "fsm_outbox"))
		})
	}
}
