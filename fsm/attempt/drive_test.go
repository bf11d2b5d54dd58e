package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Whatever the provider does, it does it once, and the business hears of it once.
// It covers the refund that is paid twice since a provider's error makes the
// retry carry a new key, and the event that is read as sent since its row is
// there.
func TestOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		script []mode
		states []attempt.State // after each round
		left   int
		asked  string
		done   string
	}{
		{"does it", nil, []attempt.State{attempt.Succeeded}, 1, "sends 1 queries 0", "r1 SUCCEEDED"},
		{"loses the connection after it", []mode{cuts}, []attempt.State{attempt.Unknown, attempt.Succeeded}, 1, "sends 1 queries 1", "r1 SUCCEEDED"},
		{"500 after it", []mode{does500}, []attempt.State{attempt.Unknown, attempt.Succeeded}, 1, "sends 1 queries 1", "r1 SUCCEEDED"},
		{"500 before it", []mode{fails500}, []attempt.State{attempt.Unknown, attempt.Succeeded}, 1, "sends 2 queries 1", "r1 SUCCEEDED"},
		{"500 twice, then a lost connection", []mode{fails500, fails500, cuts},
			[]attempt.State{attempt.Unknown, attempt.Unknown, attempt.Unknown, attempt.Succeeded}, 1, "sends 3 queries 3", "r1 SUCCEEDED"},
		{"refuses", []mode{refuses}, []attempt.State{attempt.Refused}, 0, "sends 1 queries 0", "r1 REFUSED"},
		{"is not done for a while", []mode{pends}, []attempt.State{attempt.Sent, attempt.Sent, attempt.Sent, attempt.Succeeded}, 1, "sends 1 queries 3", "r1 SUCCEEDED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.script...)
			a := b.start("r1")
			for i, want := range tc.states {
				got, err := b.drive(a.ID)
				last := i == len(tc.states)-1
				require.Equal(t, want, got.State)
				require.Equal(t, last, got.Completed())
				require.Equal(t, got, b.get(a.ID), "what is returned is what is committed")
				if last {
					require.NoError(t, err)
					break
				}
				require.ErrorIs(t, err, attempt.ErrUnfinished)
				require.NotErrorIs(t, err, attempt.ErrStuck)
			}
			require.Equal(t, tc.left, b.provider.left())
			require.Equal(t, tc.asked, b.provider.seen())
			require.Equal(t, []string{tc.done}, b.done())
			for _, key := range b.provider.sends {
				require.Equal(t, a.ID, key, "one key for all sends")
			}

			again, err := b.drive(a.ID)
			require.NoError(t, err, "nothing is left to do")
			require.True(t, again.Completed())
			require.Equal(t, tc.asked, b.provider.seen())
			require.Equal(t, []string{tc.done}, b.done())
		})
	}
}

// What is commonly done instead: the row of a failed call is deleted, and the
// retry makes a new one, with a new key.
func TestNaiveRetryPaysTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, cuts)
	b.exec(`CREATE TABLE naive (id uuid PRIMARY KEY DEFAULT gen_random_uuid())`)
	for {
		var a attempt.Attempt
		require.NoError(t, b.pool.QueryRow(t.Context(), `INSERT INTO naive DEFAULT VALUES RETURNING id::text`).Scan(&a.ID))
		if _, err := b.kind.Call(t.Context(), a); err == nil {
			break
		}
		b.exec(`DELETE FROM naive WHERE id = $1`, a.ID)
	}
	require.Equal(t, 2, b.provider.left())
}

// A call is given up after its time, and may have been done.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call, patient := b.kind.Call, b.kind.Policy
	b.kind.Policy.CallTimeout = time.Millisecond
	b.kind.Call = func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
		if _, err := call(context.WithoutCancel(ctx), a); err != nil {
			return attempt.Result{}, err
		}
		<-ctx.Done() // the answer gets lost
		return attempt.Result{}, ctx.Err()
	}
	a := b.start("r1")
	got, err := b.drive(a.ID)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	require.Equal(t, attempt.Unknown, got.State)
	b.kind.Policy = patient
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, 1, b.provider.left())
	require.Equal(t, "sends 1 queries 1", b.provider.seen())
}

// A connection that was never had sent nothing: the call is made without a look-up.
func TestNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nowhere := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	good := b.kind.Call
	b.kind.Call = refundKind(nowhere).Call
	a := b.start("r1")
	got, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrNotSent)
	require.Equal(t, attempt.Started, got.State)
	require.NotContains(t, got.LastError, "http://", "a URL may carry a token")

	b.kind.Call = good
	require.Equal(t, attempt.Succeeded, b.driven(a.ID).State)
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
}

// "Not sent" says nothing about the send before it.
func TestNotSentAfterUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, fails500)
	a := b.start("r1")
	_, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	good := b.kind.Call
	b.kind.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
		return attempt.Result{}, fmt.Errorf("no route: %w", attempt.ErrNotSent)
	}
	got, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrNotSent)
	require.Equal(t, attempt.Unknown, got.State)
	b.kind.Call = good
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, 1, b.provider.left())
}

// The caller's context ends in the call: that it may have been done is recorded.
func TestContextEndsInTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, hangs)
	b.provider.inFlight = make(chan string, 1)
	a := b.start("r1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-b.provider.inFlight
		cancel()
	}()
	got, err := attempt.Drive(ctx, b.pool, b.kind, a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, attempt.Unknown, got.State)
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, 1, b.provider.left())
}

// A panic in the call is one more way not to know; the answer of a panic in
// Complete is kept.
func TestPanics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := b.kind.Call
	b.kind.Call = func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
		_, _ = call(ctx, a)
		panic("after the call")
	}
	a := b.start("r1")
	got, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	require.Equal(t, attempt.Unknown, got.State)
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, 1, b.provider.left())
}

// The business change fails after the provider answered: both wait, and the
// provider is not asked again.
func TestCompleteFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	boom := errors.New("no such order")
	complete := b.kind.Complete
	fail := true
	b.kind.Complete = func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
		if err := complete(ctx, tx, a); err != nil || !fail {
			return err
		}
		return boom
	}
	a := b.start("r1")
	for range 2 {
		got, err := b.drive(a.ID)
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, attempt.ErrUnfinished)
		require.Equal(t, attempt.Succeeded, got.State)
		require.Equal(t, "re_"+a.ID, got.Result.Ref)
		require.JSONEq(t, `{"number":"re_`+a.ID+`"}`, string(got.Result.Data))
		require.False(t, got.Completed())
		require.Empty(t, b.done(), "the change went with the transaction")
	}
	fail = false
	got, err := b.drive(a.ID)
	require.NoError(t, err)
	require.True(t, got.Completed())
	require.Empty(t, got.LastError)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
	require.Equal(t, "started sent succeeded put off put off completed", b.notices())
}

// A failure at every point, then rounds as usual: once at the provider, once in
// the business.
func TestFailsAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range points {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
			b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
			a := b.start("r1")
			_, err := attempt.Drive(fault.With(t.Context(), point, fault.Fail), b.pool, b.kind, a.ID)
			require.ErrorIs(t, err, fault.ErrInjected)
			require.True(t, b.driven(a.ID).Completed())
			require.Equal(t, 1, b.provider.left())
			require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
			require.Equal(t, []string{"r1"}, b.texts(`SELECT business_key FROM reserved`))
		})
	}
}

var points = []fault.Point{
	attempt.PointStarted, attempt.PointStep, attempt.PointSent, attempt.PointAnswered,
	attempt.PointRecorded, attempt.PointCompleting, attempt.PointCompleted,
}

// reserve is a step that would be noticed if it was done twice.
func reserve(ctx context.Context, tx pgx.Tx, a attempt.Attempt) (any, error) {
	_, err := tx.Exec(ctx, `INSERT INTO reserved (business_key) VALUES ($1)`, a.BusinessKey)
	return map[string]any{"by": a.BusinessKey}, err
}

// Without a look-up at the provider, the repeated call is the look-up.
func TestRepeatIsQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t, cuts)
	b.kind.Query, b.kind.RepeatIsQuery = nil, true
	a := b.start("r1")
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, "sends 2 queries 0", b.provider.seen())
	require.Equal(t, 1, b.provider.left())
}

// A provider that has forgotten its keys must not be sent the call again.
func TestTooLateToSendAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, fails500)
	a := b.start("r1")
	_, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	b.exec(`UPDATE fsm_attempts SET first_sent_at = clock_timestamp() - interval '23 hours 1 second'`)
	got, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)
	require.NotErrorIs(t, err, attempt.ErrUnfinished)
	require.NotNil(t, got.StuckAt)
	require.Equal(t, "sends 1 queries 1", b.provider.seen())
	_, err = b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)
	require.Equal(t, "sends 1 queries 1", b.provider.seen())
}

// Rounds that end nothing come to an end, those that ended by a crash too.
func TestMaxRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.kind.Policy.MaxRounds = 2
	b.kind.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
		return attempt.Result{}, attempt.ErrNotSent
	}
	a := b.start("r1")
	_, err := b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	_, err = b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)

	crashed := b.start("r2")
	b.exec(`UPDATE fsm_attempts SET rounds = 2 WHERE id = $1`, crashed.ID)
	_, err = b.drive(crashed.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)
	require.Zero(t, b.get(crashed.ID).Sends)
}

func TestDriveRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	for _, id := range []string{"", "x", a.ID + "0", "{" + a.ID[1:], string(make([]byte, 36))} {
		_, err := b.drive(id)
		require.ErrorIs(t, err, attempt.ErrArgument)
	}
	_, err := b.drive("00000000-0000-4000-8000-000000000000")
	require.ErrorIs(t, err, attempt.ErrNotFound)
	other := *b.kind
	other.Name = "payout"
	_, err = attempt.Drive(t.Context(), b.pool, &other, a.ID)
	require.ErrorIs(t, err, attempt.ErrArgument)
	require.Zero(t, b.get(a.ID).Fence)
}
