package attempt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/fault"
)

// held is a call that is under way until the test lets it answer.
type held struct {
	begun, answer chan struct{}
	ended         chan error
	got           attempt.Attempt
}

// hold drives an attempt in another goroutine up to the answer of its call, which
// is late and, when it is an error, not the provider's.
func (b *bench) hold(id string, late error) *held {
	b.t.Helper()
	h := &held{begun: make(chan struct{}), answer: make(chan struct{}), ended: make(chan error, 1)}
	kind := *b.kind
	kind.Call = func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
		result, err := b.kind.Call(ctx, a)
		close(h.begun)
		<-h.answer
		result.Ref = "late"
		return result, errors.Join(err, late)
	}
	go func() {
		var err error
		h.got, err = attempt.Drive(b.t.Context(), b.pool, &kind, id)
		h.ended <- err
	}()
	<-h.begun
	return h
}

// While one owner drives, another is told so and does nothing. It covers the one
// id that a restart or a parallel start runs twice.
func TestBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	h := b.hold(a.ID, nil)
	_, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrBusy)
	var busy *attempt.BusyError
	require.ErrorAs(t, err, &busy)
	require.Positive(t, busy.Left)
	require.LessOrEqual(t, busy.Left, time.Minute)
	close(h.answer)
	require.NoError(t, <-h.ended)
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

// What a call says after the lease was lost is not recorded: not over a newer
// owner's that is there already, nor under one that is still at work. It covers
// the late step that overwrites what was decided meanwhile.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]error{
		"done": nil, "refused": attempt.Refuse("late"), "not known": errors.New("late"), "not sent": attempt.ErrNotSent,
	} {
		for _, newer := range []string{"completed", "at work"} {
			t.Run(name+", newer owner "+newer, func(t *testing.T) {
				t.Parallel()
				lateAnswer(t, late, newer == "at work")
			})
		}
	}
}

func lateAnswer(t *testing.T, said error, atWork bool) {
	b := newBench(t)
	a := b.start("r1")
	late := b.hold(a.ID, said)
	b.endLeases()

	done, asking, release := make(chan error, 1), make(chan struct{}), make(chan struct{})
	kind := *b.kind
	kind.Query = func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
		close(asking)
		<-release
		return b.kind.Query(ctx, a)
	}
	go func() {
		_, err := attempt.Drive(t.Context(), b.pool, &kind, a.ID)
		done <- err
	}()
	<-asking
	finish := func() {
		close(release)
		require.NoError(t, <-done)
	}
	if !atWork {
		finish()
	}
	close(late.answer)
	require.ErrorIs(t, <-late.ended, attempt.ErrLost)
	if atWork {
		require.Equal(t, attempt.Sent, b.get(a.ID).State)
		finish()
	}
	got := b.get(a.ID)
	require.Equal(t, attempt.Succeeded, got.State)
	require.Equal(t, "re_"+a.ID, got.Result.Ref, "not the late one's")
	require.Equal(t, int64(2), got.Fence)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, 1, b.provider.left())
	require.Contains(t, b.notices(), string(attempt.WasTakenOver))
	require.Contains(t, b.notices(), string(attempt.WasLost))
}

// What is commonly done instead: the answer is written by id alone.
func TestNaiveLateAnswerOverwrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	late := b.hold(a.ID, nil)
	b.endLeases()
	require.True(t, b.driven(a.ID).Completed())
	b.exec(`UPDATE fsm_attempts SET state = 'REFUSED', ref = 'late' WHERE id = $1`, a.ID)
	require.Equal(t, "late", b.get(a.ID).Result.Ref)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done(), "and the business was told otherwise")
	close(late.answer)
	require.ErrorIs(t, <-late.ended, attempt.ErrLost)
}

// An owner that was stopped before a step does not pass it when it goes on, though
// the newer owner has not passed it either.
func TestStepAfterTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
	b.kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
	a := b.start("r1")
	lateOn, lateEnded := b.stopped(a.ID, attempt.PointStarted)
	b.endLeases()
	newerOn, newerEnded := b.stopped(a.ID, attempt.PointStarted)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_attempts WHERE due > clock_timestamp()
		AND GREATEST(due, leased_until) <= clock_timestamp() + interval '1 min'`), "nobody need try before the lease ends, and anybody may after it")
	close(lateOn)
	require.ErrorIs(t, <-lateEnded, attempt.ErrLost)
	require.Empty(t, b.get(a.ID).Steps)
	require.Empty(t, b.texts(`SELECT business_key FROM reserved`))
	close(newerOn)
	require.NoError(t, <-newerEnded)
	require.Equal(t, []string{"r1"}, b.texts(`SELECT business_key FROM reserved`))
	require.Equal(t, 1, b.provider.left())
}

// An owner that was stopped before its send does not send when it goes on: the
// newer one has.
func TestSendAfterTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	on, ended := b.stopped(a.ID, attempt.PointStarted)
	b.endLeases()
	h := b.hold(a.ID, nil) // the newer one is in its call
	close(on)
	require.ErrorIs(t, <-ended, attempt.ErrLost)
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
	close(h.answer)
	require.NoError(t, <-h.ended)
}

// The same of a look-up.
func TestQueryAfterTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, fails500)
	a := b.start("r1")
	_, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	on, ended := b.stopped(a.ID, attempt.PointStarted)
	b.endLeases()
	h := b.hold(a.ID, nil)
	close(on)
	require.ErrorIs(t, <-ended, attempt.ErrLost)
	require.Equal(t, "sends 2 queries 1", b.provider.seen())
	close(h.answer)
	require.NoError(t, <-h.ended)
}

// A newer owner takes over while a business change is under way: one of the two
// commits it.
func TestTakenOverWhileCompleting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	on, ended := b.stopped(a.ID, attempt.PointRecorded)
	b.endLeases()
	require.True(t, b.driven(a.ID).Completed())
	close(on)
	require.ErrorIs(t, <-ended, attempt.ErrLost)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
}

// stopped drives an attempt in another goroutine and stops it at a point, until
// the test closes on; ended then has what Drive returned.
func (b *bench) stopped(id string, point fault.Point) (on chan struct{}, ended chan error) {
	b.t.Helper()
	begun, on, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := fault.With(b.t.Context(), point, fault.Nth(1, func(context.Context) error {
		close(begun)
		<-on
		return nil
	}))
	go func() {
		_, err := attempt.Drive(ctx, b.pool, b.kind, id)
		ended <- err
	}()
	<-begun
	return on, ended
}
