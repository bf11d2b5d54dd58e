package attempt_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/fault"
)

// What a child process is told.
const (
	childID       = "PAWL_ATTEMPT_CHILD"
	childFault    = "PAWL_ATTEMPT_FAULT"
	childDatabase = "PAWL_ATTEMPT_DATABASE"
	childProvider = "PAWL_ATTEMPT_PROVIDER"
)

// TestChild is the child: it drives one attempt until it dies.
func TestChild(t *testing.T) {
	id := os.Getenv(childID)
	if id == "" {
		t.Skip("is for the tests that kill")
	}
	require.NoError(t, fault.Arm(os.Getenv(childFault)))
	pool, err := pgxpool.New(t.Context(), os.Getenv(childDatabase))
	require.NoError(t, err)
	kind := refundKind(os.Getenv(childProvider))
	kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
	_, err = attempt.Drive(t.Context(), pool, kind, id)
	require.NoError(t, err)
}

// child starts a process that drives the attempt.
func (b *bench) child(id, spec string) *exec.Cmd {
	b.t.Helper()
	self, err := os.Executable()
	require.NoError(b.t, err)
	cmd := exec.CommandContext(b.t.Context(), self, "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childID+"="+id, childFault+"="+spec,
		childDatabase+"="+b.pool.Config().ConnString(), childProvider+"="+b.provider.url)
	require.NoError(b.t, cmd.Start())
	return cmd
}

// died waits for the child and makes sure that it was killed.
func died(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &ended)
	status, ok := ended.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal())
}

// A process dies by kill -9 at each point; the one after it pays once in all, and
// tells the business once.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range points {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
			b.kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
			a := b.start("r1")
			died(t, b.child(a.ID, string(point)+"=kill"))
			b.restarted(a.ID, point != attempt.PointCompleted)
		})
	}
}

// A process dies while its request is at the provider, which has done it.
func TestKilledInTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, hangs)
	b.provider.inFlight = make(chan string, 1)
	b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
	b.kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
	a := b.start("r1")
	child := b.child(a.ID, "")
	select {
	case key := <-b.provider.inFlight:
		require.Equal(t, a.ID, key)
	case <-time.After(time.Minute):
		require.Fail(t, "the child asked nothing of the provider")
	}
	require.NoError(t, child.Process.Kill())
	died(t, child)
	require.Equal(t, attempt.Sent, b.get(a.ID).State)
	b.restarted(a.ID, true)
	require.Equal(t, "sends 1 queries 1", b.provider.seen())
}

// restarted drives on after a crash, through the completer, and looks at what
// there is in the end.
func (b *bench) restarted(id string, unfinished bool) {
	b.t.Helper()
	completer := attempt.Completer{DB: b.pool, Kinds: []*attempt.Kind{b.kind}}
	if unfinished {
		completed, err := completer.Once(b.t.Context())
		require.NoError(b.t, err)
		require.Zero(b.t, completed, "the dead one's lease runs")
		_, err = b.drive(id)
		require.ErrorIs(b.t, err, attempt.ErrBusy)
		b.endLeases()
		completed, err = completer.Once(b.t.Context())
		require.NoError(b.t, err)
		require.Equal(b.t, 1, completed)
	}
	completed, err := completer.Once(b.t.Context())
	require.NoError(b.t, err)
	require.Zero(b.t, completed)
	require.Equal(b.t, 1, b.provider.left())
	require.Equal(b.t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(b.t, []string{"r1"}, b.texts(`SELECT business_key FROM reserved`))
	require.True(b.t, b.get(id).Completed())
}

// What is commonly done instead: the call is made, and then a row says so. A
// process that dies between the two pays again.
func TestNaiveRowAfterTheCallPaysTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE naive (id uuid PRIMARY KEY)`)
	for _, dies := range []bool{true, false} {
		var a attempt.Attempt
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT gen_random_uuid()::text`).Scan(&a.ID))
		_, err := b.kind.Call(t.Context(), a)
		require.NoError(t, err)
		if !dies {
			b.exec(`INSERT INTO naive VALUES ($1)`, a.ID)
		}
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM naive`))
	require.Equal(t, 2, b.provider.left())
}
