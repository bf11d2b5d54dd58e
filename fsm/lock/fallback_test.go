package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/lock"
)

// scripted is a locker that answers as it is told, and counts.
type scripted struct {
	err   error
	calls int
}

func (s *scripted) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	s.calls++
	if s.err != nil {
		return s.err
	}
	return fn(ctx, lock.NewHeld(name, 1))
}

func TestFallback(t *testing.T) {
	t.Parallel()
	first, second := &scripted{}, &scripted{}
	now := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	var told []error
	f, err := lock.Fallback(first, second, lock.Rule{
		Stay: time.Minute, Now: func() time.Time { return now }, Switched: func(err error) { told = append(told, err) },
	})
	require.NoError(t, err)
	call := func(want error, calls, otherCalls int) {
		t.Helper()
		require.Equal(t, want, f.With(t.Context(), name, nothing))
		require.Equal(t, [2]int{calls, otherCalls}, [2]int{first.calls, second.calls})
	}
	down := errors.Join(lock.ErrUnavailable, errors.New("refused"))

	call(nil, 1, 0)
	first.err = lock.ErrNotAcquired
	call(lock.ErrNotAcquired, 2, 0) // held by others is no reason
	first.err = errBusiness
	call(errBusiness, 3, 0)
	first.err = down
	call(nil, 4, 1)
	require.Equal(t, []error{down}, told)
	now = now.Add(time.Minute - 1)
	call(nil, 4, 2) // stays
	now = now.Add(1)
	call(nil, 5, 3) // tries, and stays again
	now = now.Add(time.Minute - 1)
	call(nil, 5, 4)
	now = now.Add(1)
	first.err = lock.ErrNotAcquired // it works again
	call(lock.ErrNotAcquired, 6, 4)
	first.err = nil
	call(nil, 7, 4)
	require.Len(t, told, 2)
}

// The function's own error is no reason to run it again, though it looks like one.
func TestFallbackNeverRunsTheFunctionTwice(t *testing.T) {
	t.Parallel()
	second := &scripted{}
	f, err := lock.Fallback(&scripted{}, second, lock.Rule{Stay: time.Minute})
	require.NoError(t, err)
	runs := 0
	err = f.With(t.Context(), name, func(context.Context, lock.Held) error {
		runs++
		return lock.ErrUnavailable // of a lock inside, say
	})
	require.ErrorIs(t, err, lock.ErrUnavailable)
	require.Equal(t, 1, runs)
	require.Zero(t, second.calls)
}

// blocked is a locker that hangs until it is told not to be there.
type blocked struct {
	entered, free chan struct{}
	calls         int
}

func (b *blocked) With(context.Context, string, func(context.Context, lock.Held) error) error {
	b.calls++
	b.entered <- struct{}{}
	<-b.free
	return lock.ErrUnavailable
}

// When the stay is over one call tries the first, and the others do not wait for
// how that goes.
func TestOneCallTriesAgain(t *testing.T) {
	t.Parallel()
	first := &blocked{entered: make(chan struct{}), free: make(chan struct{})}
	var now time.Time = time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	f, err := lock.Fallback(first, &scripted{}, lock.Rule{Stay: time.Minute, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	require.NoError(t, err)
	try := func() (done chan error) {
		done = make(chan error, 1)
		go func() { done <- f.With(t.Context(), name, nothing) }()
		<-first.entered
		return done
	}
	done := try()
	first.free <- struct{}{}
	require.NoError(t, <-done)
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	done = try()
	require.NoError(t, f.With(t.Context(), name, nothing), "another call meanwhile")
	first.free <- struct{}{}
	require.NoError(t, <-done)
	require.Equal(t, 2, first.calls)
}

func TestLockJudgeUpdateFallsBack(t *testing.T) {
	t.Parallel()
	pool := open(t)
	f, err := lock.Fallback(&scripted{err: lock.ErrUnavailable}, postgres(t, pool, lasting), lock.Rule{Stay: time.Hour})
	require.NoError(t, err)
	for range 2 {
		_, err = lock.LockJudgeUpdate(t.Context(), f, pool, name, judge, take)
		require.NoError(t, err)
	}
	require.Equal(t, 98, balance(t, pool))
}

func TestFallbackArguments(t *testing.T) {
	t.Parallel()
	l := &scripted{}
	for _, make := range []func() (*lock.FallbackLocker, error){
		func() (*lock.FallbackLocker, error) { return lock.Fallback(nil, l, lock.Rule{Stay: 1}) },
		func() (*lock.FallbackLocker, error) { return lock.Fallback(l, nil, lock.Rule{Stay: 1}) },
		func() (*lock.FallbackLocker, error) { return lock.Fallback(l, l, lock.Rule{}) },
		func() (*lock.FallbackLocker, error) { return lock.Fallback(l, l, lock.Rule{Stay: -1}) },
	} {
		_, err := make()
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
}
