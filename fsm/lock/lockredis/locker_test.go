package lockredis_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	s := open(t)
	lockers := []*lockredis.Locker{s.locker(lasting), s.locker(lasting)}
	var inside atomic.Int32
	var last atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := lockers[i%2].With(t.Context(), name, func(_ context.Context, held lock.Held) error {
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d at once", n)
				}
				if before := last.Swap(held.Fence()); before >= held.Fence() {
					t.Errorf("fence %d after %d", held.Fence(), before)
				}
				inside.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 50, last.Load())
	require.Empty(t, s.owner())
}

func TestErrorsAndPanicsRelease(t *testing.T) {
	t.Parallel()
	s := open(t)
	l := s.locker(lasting)
	err := l.With(t.Context(), name, func(_ context.Context, held lock.Held) error {
		require.Equal(t, name, held.Name())
		require.NotEmpty(t, s.owner())
		return errBusiness
	})
	require.Equal(t, errBusiness, err)
	require.Empty(t, s.owner())
	require.Panics(t, func() {
		_ = l.With(t.Context(), name, func(context.Context, lock.Held) error { panic("bug") })
	})
	require.Empty(t, s.owner())
	for _, point := range []fault.Point{lock.PointAcquired, lockredis.PointRenew} {
		err = l.With(fault.With(t.Context(), point, fault.Fail), name, s.never)
		require.ErrorIs(t, err, fault.ErrInjected)
		require.Empty(t, s.owner())
	}
	// The release does not listen to the caller's context.
	ctx, cancel := context.WithCancel(t.Context())
	err = l.With(ctx, name, func(inner context.Context, _ lock.Held) error {
		cancel()
		<-inner.Done()
		return inner.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, lock.ErrLost)
	require.Empty(t, s.owner())
}

// calls is how many scripts the server has run.
func (s *stage) calls() int {
	s.t.Helper()
	text, err := s.client.Do(s.t.Context(), s.client.B().Info().Section("commandstats").Build()).ToString()
	require.NoError(s.t, err)
	n := 0
	for _, m := range regexp.MustCompile(`cmdstat_evalsha:calls=(\d+)`).FindAllStringSubmatch(text, -1) {
		n, err = strconv.Atoi(m[1])
		require.NoError(s.t, err)
	}
	return n
}

// cpu is the time of the processor that this process has taken.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Waiting for a lock spun at 100 % CPU, and could not be ended: here 50 waiters ask
// one at a time and with pauses, their wait has a bound, and nothing is left of them.
// One alone that asks without pauses asks more than all of them.
func TestContentionIsCheap(t *testing.T) { // counts goroutines, so not parallel
	s := open(t)
	err := s.locker(lasting).With(t.Context(), name, func(context.Context, lock.Held) error {
		waiting := lasting
		waiting.Wait = time.Second
		l := s.locker(waiting)
		goroutines := goleak.IgnoreCurrent()
		before, spent := s.calls(), cpu(t)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := l.With(t.Context(), name, s.never); !strings.Contains(err.Error(), lock.ErrNotAcquired.Error()) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		waited := cpu(t) - spent
		require.Less(t, waited, waiting.Wait/2, "one that spins takes all of it")
		asked := s.calls() - before
		require.Positive(t, asked)
		require.LessOrEqual(t, asked, 1000/50+6+50, "pauses grow to 50 ms at least, and each may ask once at its end")
		goleak.VerifyNone(t, goroutines, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*pipe)._background"),
			goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*pipe)._backgroundWrite")) // the client's connection

		// An endless wait ends with its context: that of who asks Redis, once it has
		// asked, and those of who wait behind.
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 10)
		before, l = s.calls(), s.locker(lasting)
		for range cap(done) {
			go func() { done <- l.With(ctx, name, s.never) }()
		}
		require.Eventually(t, func() bool { return s.calls() > before }, 20*time.Second, time.Millisecond)
		cancel()
		for range cap(done) {
			require.ErrorIs(t, <-done, context.Canceled)
		}

		naive := 0
		spent = cpu(t)
		for over := time.Now().Add(time.Second); time.Now().Before(over); naive++ {
			require.Error(t, s.client.Do(t.Context(), s.client.B().Set().Key(key).Value("x").Nx().Px(time.Hour).Build()).Error())
		}
		t.Logf("%v of CPU for those who wait, %v for one that asks without pauses", waited, cpu(t)-spent)
		require.Greater(t, naive, asked)
		return nil
	})
	require.NoError(t, err)
}

// A lock lives on past its TTL while the holder works, and nobody else has it; also
// while it winds up what its caller has cancelled.
func TestRenewal(t *testing.T) {
	t.Parallel()
	s := open(t)
	renewals := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(fault.With(t.Context(), lockredis.PointRenew, func(context.Context) error {
		renewals <- struct{}{}
		return nil
	}))
	c := short
	c.TTL = 3 * time.Second
	err := s.locker(c).With(ctx, name, func(ctx context.Context, _ lock.Held) error {
		for range 5 { // the first came before, so the last is after the TTL
			<-renewals
		}
		require.NoError(t, ctx.Err())
		require.NotEmpty(t, s.owner())
		cancel()
		for range 2 {
			<-renewals
		}
		require.NotErrorIs(t, context.Cause(ctx), lock.ErrLost)
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, s.owner())
}

// Renewal is not for ever.
func TestMaxHold(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := lasting
	c.MaxHold = 50 * time.Millisecond
	err := s.locker(c).With(t.Context(), name, func(ctx context.Context, _ lock.Held) error {
		s.untilLost(ctx)
		return nil // as if it had not looked
	})
	require.ErrorIs(t, err, lock.ErrLost)
	require.ErrorContains(t, err, "longest allowed")
	require.Empty(t, s.owner(), "free at once, and not after an hour")

	c = short
	c.MaxHold = 50 * time.Millisecond
	err = s.locker(c).With(t.Context(), name, func(context.Context, lock.Held) error {
		s.awaitFree() // nobody renews for a function that does not return
		return nil
	})
	require.ErrorIs(t, err, lock.ErrLost)
}

// A name is free when the holder is done, when it is gone for a TTL, or when a
// person says so; there is a tool to see and to free it.
func TestLeftAndBreak(t *testing.T) {
	t.Parallel()
	s := open(t)
	l := s.locker(short)
	see := func(min, max time.Duration) {
		t.Helper()
		left, err := l.Left(t.Context(), name)
		require.NoError(t, err)
		require.GreaterOrEqual(t, left, min)
		require.LessOrEqual(t, left, max)
	}
	see(0, 0)
	err := l.With(t.Context(), name, func(ctx context.Context, held lock.Held) error {
		see(1, short.TTL)
		broken, err := s.locker(short).Break(t.Context(), name)
		require.NoError(t, err)
		require.True(t, broken)
		require.NoError(t, s.locker(lasting).With(t.Context(), name, func(_ context.Context, next lock.Held) error {
			s.untilLost(ctx) // by a renewal that was refused
			require.EqualValues(t, 1, s.fenced(next.Fence()))
			require.Zero(t, s.fenced(held.Fence()))
			return nil
		}))
		return nil
	})
	require.ErrorIs(t, err, lock.ErrLost)
	broken, err := l.Break(t.Context(), name)
	require.NoError(t, err)
	require.False(t, broken)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []lockredis.Config{
		{}, {TTL: time.Second}, {MaxHold: time.Second}, {TTL: -time.Second, MaxHold: 1}, {TTL: time.Second, MaxHold: -1},
		{TTL: time.Second, MaxHold: 1, Wait: -1}, {TTL: time.Second, MaxHold: 1, Call: -1},
		{TTL: time.Second, MaxHold: 1, Call: 501 * time.Millisecond}, {TTL: time.Millisecond, MaxHold: 1},
	} {
		_, err := lockredis.Open(rueidis.ClientOption{}, nil, c)
		require.ErrorIs(t, err, fsm.ErrArgument, "%+v", c)
	}
	_, err := lockredis.New(nil, nil, lasting)
	require.ErrorIs(t, err, fsm.ErrArgument, "no client")
	l, err := lockredis.Open(rueidis.ClientOption{}, nil, lasting)
	require.NoError(t, err)
	for _, bad := range []string{"", "sesame\x00", "sesame\xff", strings.Repeat("sesame", 2000)} {
		err := l.With(t.Context(), bad, nil)
		require.ErrorIs(t, err, fsm.ErrArgument)
		require.NotContains(t, err.Error(), "sesame")
	}
}
