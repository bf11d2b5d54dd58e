package lockredis_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
	"github.com/pawl-go/pawl/internal/testredis"
)

// A holder whose renewals come too late loses the lock to a second: it is told,
// what it writes is refused, and its late release leaves the second's lock alone.
func TestLateHolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	err := s.locker(short).With(deaf(t.Context()), name, func(ctx context.Context, first lock.Held) error {
		return s.locker(lasting).With(t.Context(), name, func(_ context.Context, second lock.Held) error {
			s.untilLost(ctx)
			require.Greater(t, second.Fence(), first.Fence())
			require.EqualValues(t, 1, s.fenced(second.Fence()))
			require.Zero(t, s.fenced(first.Fence()))
			return nil
		})
	})
	require.ErrorIs(t, err, lock.ErrLost)
	require.Equal(t, 99, s.balance())
}

// The first's release comes while the second holds: a DEL without a look at the
// owner frees the second's lock, and a third one has it too. Here it does not.
func TestLateRelease(t *testing.T) {
	t.Parallel()
	s := open(t)
	released, goOn := make(chan error, 1), make(chan struct{})
	inside := make(chan struct{})
	go func() {
		released <- s.locker(short).With(deaf(t.Context()), name, func(context.Context, lock.Held) error {
			close(inside)
			<-goOn
			return nil
		})
	}()
	<-inside
	err := s.locker(lasting).With(t.Context(), name, func(ctx context.Context, _ lock.Held) error {
		owner := s.owner()
		close(goOn)
		require.ErrorIs(t, <-released, lock.ErrLost)
		require.Equal(t, owner, s.owner())
		require.NoError(t, ctx.Err())

		require.NoError(t, s.client.Do(t.Context(), s.client.B().Del().Key(key).Build()).Error())
		require.NoError(t, s.locker(lasting).With(t.Context(), name, nothing), "the naive release")
		return nil
	})
	require.ErrorIs(t, err, lock.ErrLost)
}

// A process that stands still after it has acquired the lock, and before it takes
// its fencing value, would take one greater than that of the next holder, and keep
// that one out. It is refused instead, by its own clock and by Redis.
func TestStandsStillBeforeItsFencingValue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		config lockredis.Config
		lose   func(*stage)
	}{
		{"for longer than the TTL", short, func(s *stage) { s.awaitFree() }},
		{"and Redis loses its keys", lasting, func(s *stage) { s.redis.Flush() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			var next int64
			standsStill := func(context.Context) error {
				tc.lose(s)
				return s.locker(lasting).With(t.Context(), name, func(_ context.Context, held lock.Held) error {
					next = held.Fence()
					return nil
				})
			}
			err := s.locker(tc.config).With(fault.With(t.Context(), lock.PointAcquired, standsStill), name, s.never)
			require.ErrorIs(t, err, lock.ErrNotAcquired)
			naive, err := lock.NextFence(t.Context(), s.pool)
			require.NoError(t, err)
			require.Greater(t, naive, next)
		})
	}
}

// Redis fails while a lock is held. The holder is told before anybody else can have
// the lock, or as soon as it can know, and what it writes afterwards is refused.
func TestRedisFailsDuringHold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ fail, restore func(*stage) }{
		"killed":                    {func(s *stage) { s.redis.Kill() }, func(s *stage) { s.redis.Restart() }},
		"flushed":                   {func(s *stage) { s.redis.Flush() }, func(*stage) {}},
		"stopped":                   {func(s *stage) { s.redis.Pause() }, func(s *stage) { s.redis.Resume() }},
		"killed, started and empty": {func(s *stage) { s.redis.Kill(); s.redis.Restart(); s.redis.Flush() }, func(*stage) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			err := s.locker(short).With(t.Context(), name, func(ctx context.Context, first lock.Held) error {
				tc.fail(s)
				s.untilLost(ctx)
				tc.restore(s)
				return s.locker(lasting).With(t.Context(), name, func(_ context.Context, second lock.Held) error {
					require.EqualValues(t, 1, s.fenced(second.Fence()), "values grow over all of this")
					require.Zero(t, s.fenced(first.Fence()))
					return nil
				})
			})
			require.ErrorIs(t, err, lock.ErrLost)
		})
	}
}

// A caller who goes away while it asks does not leave a lock behind that is nobody's
// until its TTL is over.
func TestCallerGoesAwayWhileItAsks(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := lockredis.New(testredis.Leaving{Client: s.client, Caller: ctx, Leave: cancel}, s.pool, lasting)
	require.NoError(t, err)
	require.ErrorIs(t, l.With(ctx, name, s.never), context.Canceled)
	require.Empty(t, s.owner())
}

// Redis is started again within the TTL, with what it had: nobody notices.
func TestRedisRestartsWithinTheTTL(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := short
	c.TTL = 30 * time.Second
	c.Call = 10 * time.Second
	restart := func() {
		s.redis.Kill()
		s.redis.Restart()
	}
	ctx := fault.With(t.Context(), lock.PointAcquired, func(context.Context) error {
		restart()
		return nil
	})
	require.NoError(t, s.locker(c).With(ctx, name, func(context.Context, lock.Held) error {
		restart()
		return nil
	}))
	require.Empty(t, s.owner(), "the release took a connection that works")
}

// While Redis is down, or stands still, locks are PostgreSQL's: the calls of the
// switch pay the bound once, and then the process stays.
func TestFallsBackToPostgres(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*stage){
		"killed":  func(s *stage) { s.redis.Kill() },
		"stopped": func(s *stage) { s.redis.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c := lasting
			c.Call = 2 * time.Second
			second, err := lock.NewPostgres(s.pool, lock.Config{Wait: time.Minute, MaxHold: time.Hour})
			require.NoError(t, err)
			switches := 0
			f, err := lock.Fallback(s.locker(c), second, lock.Rule{Stay: time.Hour, Switched: func(error) { switches++ }})
			require.NoError(t, err)
			var fences []int64
			call := func() {
				t.Helper()
				require.NoError(t, f.With(t.Context(), name, func(_ context.Context, held lock.Held) error {
					fences = append(fences, held.Fence())
					return nil
				}))
				_, err := lock.LockJudgeUpdate(t.Context(), f, s.pool, name, judge, take)
				require.NoError(t, err)
			}
			call()
			fail(s)
			began := time.Now()
			for range 3 {
				call()
			}
			require.Less(t, time.Since(began), 10*time.Second)
			require.Equal(t, 1, switches)
			require.Equal(t, []int64{1, 3, 5, 7}, fences, "one sequence for both")
			require.Equal(t, 96, s.balance())
		})
	}
}

// At the moment of a switch two hold the lock, one of each kind: of their updates
// one takes effect, whichever comes first.
func TestTwoHoldersAtTheSwitch(t *testing.T) {
	t.Parallel()
	s := open(t)
	process := func() *lock.FallbackLocker {
		postgres, err := lock.NewPostgres(s.pool, lock.Config{Wait: time.Minute, MaxHold: time.Hour})
		require.NoError(t, err)
		f, err := lock.Fallback(s.locker(lasting), postgres, lock.Rule{Stay: time.Hour})
		require.NoError(t, err)
		return f
	}
	switched := func(context.Context) error {
		s.redis.Kill()
		_, err := lock.LockJudgeUpdate(t.Context(), process(), s.pool, name, judge, take)
		return err
	}
	_, err := lock.LockJudgeUpdate(fault.With(t.Context(), lock.PointJudged, switched), process(), s.pool, name, judge, take)
	require.ErrorIs(t, err, lock.ErrStale)
	require.Equal(t, 99, s.balance())
}

// Callers that wait in one process when Redis stops find out once for all, and not
// one after the other.
func TestWaitersPayTheBoundOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := lasting
	c.Call = 2 * time.Second
	l := s.locker(c)
	const waiters = 30
	errs := make(chan error, waiters)
	var began time.Time
	require.NoError(t, l.With(t.Context(), name, func(context.Context, lock.Held) error {
		s.redis.Pause()
		for range waiters {
			go func() { errs <- l.With(t.Context(), name, s.never) }()
		}
		began = time.Now()
		return nil
	}))
	for range waiters {
		require.ErrorIs(t, <-errs, lock.ErrUnavailable)
	}
	require.Less(t, time.Since(began), waiters*c.Call/2)
}

// PostgreSQL without the sequence, and so without fencing values, has no locks.
func TestNoFencingValues(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.pool.Exec(t.Context(), `DROP SEQUENCE fsm_fence`)
	require.NoError(t, err)
	err = s.locker(lasting).With(t.Context(), name, s.never)
	require.ErrorIs(t, err, lock.ErrUnavailable)
	require.ErrorContains(t, err, "`fsmgen tables lock`")
	require.Empty(t, s.owner(), "it was released")
}
