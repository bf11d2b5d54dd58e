package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
)

func (b *bench) completer() *attempt.Completer {
	return &attempt.Completer{DB: b.pool, Kinds: []*attempt.Kind{b.kind}, Page: 5}
}

// More than a page of attempts are under a lease, more than a page fail again and
// again, and those behind them are driven all the same. It covers the full page of
// long jobs that hid the stuck ones.
func TestCompleterPagesFairly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 12 {
		b.start(fmt.Sprintf("long-%02d", i))
	}
	b.exec(`UPDATE fsm_attempts SET owner = 'other', fence = 1, leased_until = clock_timestamp() + interval '1 hour',
		due = clock_timestamp() - interval '3 days'`) // even with a due time that lies before all others
	for i := range 12 {
		b.start(fmt.Sprintf("bad-%02d", i))
	}
	b.exec(`UPDATE fsm_attempts SET due = clock_timestamp() - interval '2 days' WHERE business_key LIKE 'bad%'`)
	for i := range 12 {
		b.start(fmt.Sprintf("good-%02d", i))
	}
	call := b.kind.Call
	b.kind.Call = func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
		if a.BusinessKey[0] == 'b' {
			return attempt.Result{}, errors.New("no answer")
		}
		return call(ctx, a)
	}
	completed, err := b.completer().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 12, completed)
	require.Len(t, b.done(), 12)
	require.Equal(t, 12, b.count(`SELECT count(*) FROM fsm_attempts WHERE business_key LIKE 'bad%' AND rounds = 1 AND due > clock_timestamp()`))
	require.Equal(t, 12, b.count(`SELECT count(*) FROM fsm_attempts WHERE business_key LIKE 'long%' AND fence = 1`))
}

// What is commonly done instead: the oldest page of what is not completed, each
// time anew.
func TestNaivePageHidesTheRest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 6 {
		b.start(fmt.Sprintf("long-%02d", i))
	}
	b.exec(`UPDATE fsm_attempts SET owner = 'other', leased_until = clock_timestamp() + interval '1 hour'`)
	b.start("good")
	for range 3 {
		page := b.texts(`SELECT id::text FROM fsm_attempts WHERE completed_at IS NULL ORDER BY created_at LIMIT 5`)
		for _, id := range page {
			_, err := b.drive(id)
			require.ErrorIs(t, err, attempt.ErrBusy)
		}
	}
	require.Empty(t, b.done())
}

// A provider that hangs holds up its own kind alone.
func TestKindsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("r1")
	slow := *b.kind
	slow.Name = "slow"
	completed := make(chan struct{})
	slow.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
		<-completed // by the other kind
		return attempt.Result{}, nil
	}
	complete := b.kind.Complete
	b.kind.Notify = func(n attempt.Notice) {
		if n.What == attempt.WasCompleted && n.Kind == "refund" {
			close(completed)
		}
	}
	slow.Notify, slow.Complete = nil, complete
	_, _, err := attempt.Start(t.Context(), b.pool, &slow, "s1", nil)
	require.NoError(t, err)
	c := b.completer()
	c.Kinds, c.Workers = []*attempt.Kind{&slow, b.kind}, 1
	n, err := c.Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

// Many completers at once drive each attempt once.
func TestCompletersTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		b.start(fmt.Sprintf("r%02d", i))
	}
	errs := make(chan error, 4)
	for range 4 {
		go func() {
			_, err := b.completer().Once(t.Context())
			errs <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
	require.Len(t, b.done(), 20)
	require.Equal(t, "sends 20 queries 0", b.provider.seen())
	require.Equal(t, 20, b.provider.left())
}

// A bug in one completion is reported and does not end the program or the others.
func TestCompleterOutlivesPanics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	complete := b.kind.Complete
	b.kind.Complete = func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
		if a.BusinessKey == "bad" {
			panic("a bug")
		}
		return complete(ctx, tx, a)
	}
	b.start("bad")
	b.start("good")
	n, err := b.completer().Once(t.Context())
	require.ErrorContains(t, err, "a bug")
	require.Equal(t, 1, n)
	require.Equal(t, []string{"good SUCCEEDED"}, b.done())
}

func TestGrace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("r1")
	c := b.completer()
	c.Grace = time.Hour
	n, err := c.Once(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	b.exec(`UPDATE fsm_attempts SET due = clock_timestamp() - interval '61 minutes'`)
	n, err = c.Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("r1")
	var failed []error
	rounds, stop := 0, errors.New("stop")
	c := b.completer()
	c.Kinds = append(c.Kinds, nil)
	c.Failed = func(err error) { failed = append(failed, err) }
	c.Wait = func(_ context.Context, d time.Duration) error {
		require.Equal(t, 5*time.Second, d)
		if rounds++; rounds == 2 {
			return stop
		}
		return nil
	}
	require.Equal(t, stop, c.Run(t.Context()))
	require.Len(t, failed, 2)
	require.ErrorIs(t, failed[0], attempt.ErrArgument, "one kind that cannot work is told of")
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done(), "and the others are driven")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Run(ended), context.Canceled)
	c.Wait = nil
	require.ErrorIs(t, c.Run(ended), context.Canceled)
}
