package inbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

// crash delivers something and stops after the first transaction, as a process
// does that is killed there.
func (b *bench) crash(n notice) {
	b.t.Helper()
	ctx := fault.With(b.t.Context(), inbox.PointReceived, fault.Fail)
	r, err := b.Receive(ctx, "stripe", b.signed(n.body()), n.body())
	require.ErrorIs(b.t, err, fault.ErrInjected)
	require.Equal(b.t, 503, r.Answer.Status)
}

const (
	childURL  = "PAWL_INBOX_CHILD"
	childSpec = "PAWL_INBOX_FAULT"
	childWork = "PAWL_INBOX_WORK" // deliver or retry
)

// child is a service that takes one delivery, or one round of retries, and is
// killed at the point that the parent armed.
func child(url string) int {
	if err := serveOnce(context.Background(), url); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveOnce(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	p, err := stripeProvider(settle)
	if err != nil {
		return err
	}
	i, err := inbox.New(inbox.Config{Pool: pool, Providers: []inbox.Provider{p}, Clock: func() time.Time { return noon }})
	if err != nil {
		return err
	}
	if err := fault.Arm(os.Getenv(childSpec)); err != nil {
		return err
	}
	if os.Getenv(childWork) == "retry" {
		_, err = (&inbox.Retry{Inbox: i}).Once(ctx)
		return err
	}
	s, err := webhook.NewStripeSigner([]webhook.Secret{stripeSecret})
	if err != nil {
		return err
	}
	body := told("evt_1", "paid", "p1", total).body()
	header, err := s.Sign(noon, body)
	if err != nil {
		return err
	}
	_, err = i.Receive(ctx, "stripe", header, body)
	return err
}

// killed runs the child and has it die at the point.
func killed(t *testing.T, url, work string, point fault.Point) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childURL+"="+url, childWork+"="+work, childSpec+"="+string(point)+"=kill")
	cmd.Stderr = os.Stderr
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &ended)
	status, ok := ended.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal())
}

// A service that is killed at any point completes the event exactly once after
// its restart: by the provider's repeat, or by Retry alone.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, point := range []fault.Point{inbox.PointReceived, inbox.PointProcessed, inbox.PointRecorded} {
		for _, by := range []string{"repeat", "retry"} {
			for _, work := range []string{"deliver", "retry"} {
				t.Run(fmt.Sprintf("%s/%s/%s", point, work, by), func(t *testing.T) {
					t.Parallel()
					b := newBench(t).withOrder()
					n := told("evt_1", "paid", "p1", total)
					if work == "retry" {
						b.crash(n)
						b.later()
					}
					killed(t, b.pool.Config().ConnString(), work, point)
					b.later()
					if by == "repeat" {
						require.Contains(t, []inbox.Verdict{inbox.VerdictDone, inbox.VerdictDuplicate}, b.deliver(n).Verdict)
					}
					b.retry()
					require.Len(t, b.list(inbox.Done), 1)
					b.requireOrder(order.StatePaid, "order_paid", 1)
					require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NULL`))
				})
			}
		}
	}
}
