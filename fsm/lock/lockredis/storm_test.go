package lockredis_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

// Two processes take from one account, while Redis is killed, started, stopped and
// emptied. Every update that was said to be done is done, once, and work goes on all
// the time.
func TestRedisDiesUnderLoad(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.pool.Exec(t.Context(), `UPDATE accounts SET balance = 1000000`)
	require.NoError(t, err)
	var done, slowest atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		f := s.process()
		for range 3 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					began := time.Now()
					_, err := lock.LockJudgeUpdate(t.Context(), f, s.pool, name, judge, take)
					slowest.Store(max(slowest.Load(), int64(time.Since(began)))) // roughly
					switch {
					case err == nil:
						done.Add(1)
					case errors.Is(err, lock.ErrStale), errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotAcquired):
					default:
						t.Error(err)
						return
					}
				}
			})
		}
	}
	goesOn := func(what string) {
		t.Helper()
		want := done.Load() + 20
		require.Eventually(t, func() bool { return done.Load() >= want }, time.Minute, time.Millisecond, what)
	}
	goesOn("before")
	for _, event := range []struct {
		name string
		do   func()
	}{
		{"killed", s.redis.Kill}, {"started", s.redis.Restart}, {"stopped", s.redis.Pause}, {"resumed", s.redis.Resume},
		{"emptied", s.redis.Flush}, {"killed again", s.redis.Kill}, {"started again", s.redis.Restart},
	} {
		event.do()
		goesOn(event.name)
	}
	close(stop)
	wg.Wait()
	require.EqualValues(t, 1_000_000-done.Load(), s.balance())
	t.Logf("%d updates; the slowest call took about %v", done.Load(), time.Duration(slowest.Load()))
}

// process is a locker as a program has it, with bounds that end in a test.
func (s *stage) process() *lock.FallbackLocker {
	s.t.Helper()
	postgres, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Minute})
	require.NoError(s.t, err)
	redis := s.locker(lockredis.Config{TTL: time.Second, MaxHold: time.Minute, Call: 300 * time.Millisecond})
	f, err := lock.Fallback(redis, postgres, lock.Rule{Stay: 100 * time.Millisecond})
	require.NoError(s.t, err)
	return f
}
