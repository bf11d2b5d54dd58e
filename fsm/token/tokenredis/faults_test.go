package tokenredis_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
	"github.com/pawl-go/pawl/internal/testredis"
)

// Dead at a point: the reservation is left behind and runs out, and PostgreSQL
// knows whether the use took effect.
func TestEndsAtPoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		point fault.Point
		used  bool
	}{
		{tokenredis.PointReserved, false},
		{token.PointReserved, false},
		{token.PointUsed, true},
	} {
		t.Run(string(tc.point), func(t *testing.T) {
			t.Parallel()
			s := open(t, tokenredis.Config{Lease: 50 * time.Millisecond, Wait: time.Hour, Call: 2 * time.Second})
			tok := s.issue()
			// A release that Redis does not take stands for none at all.
			dies := func(context.Context) error {
				s.redis.Kill()
				return fault.ErrInjected
			}
			_, err := s.Use(fault.With(t.Context(), tc.point, dies), tok, ann, order42, works("paid"))
			require.ErrorIs(t, err, fault.ErrInjected)
			s.redis.Restart()
			s.use(s.store(tokenredis.Config{Lease: time.Minute, Call: 5 * time.Second}), tok, tc.used)
			require.Equal(t, 1, s.effects())
		})
	}
}

// Redis killed, emptied, or stopped for longer than the lease while the business
// runs: a second use starts, waits for the first in PostgreSQL, and gets its reply.
// A store that trusts its Redis does it twice, as the last lines show.
func TestRedisFailsDuringUse(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*stage){
		"flushed": func(s *stage) { s.redis.Flush() },
		"killed":  func(s *stage) { s.redis.Kill() },
		"killed, started and empty": func(s *stage) {
			s.redis.Kill()
			s.redis.Restart()
			s.redis.Flush()
		},
		"stopped": func(s *stage) { s.redis.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, tokenredis.Config{Lease: time.Minute, Call: 2 * time.Second})
			tok := s.issue()
			second := make(chan error, 1)
			var r token.Result
			first, err := s.Use(t.Context(), tok, ann, order42, during(func() {
				event(s)
				go func() {
					var err error
					r, err = s.store(tokenredis.Config{Lease: time.Minute}).Use(t.Context(), tok, ann, order42, s.never)
					second <- err
				}()
				s.awaitWaiter()
			}))
			require.NoError(t, err)
			require.NoError(t, <-second)
			require.True(t, r.Replayed)
			require.True(t, first.At.Equal(r.At))
			require.Equal(t, 1, s.effects())
		})
	}
}

// A lease that runs out under the business lets a second use reserve the token,
// which waits for the row, and the first's late word finds another owner.
func TestLeaseRunsOut(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		s := open(t, tokenredis.Config{Lease: time.Millisecond, Call: 2 * time.Second})
		tok := s.issue()
		second := make(chan error, 1)
		var r token.Result
		_, err := s.Use(t.Context(), tok, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			mine := s.field(tok, "owner")
			go func() {
				var err error
				r, err = s.store(tokenredis.Config{Lease: time.Hour, Call: 2 * time.Second}).Use(t.Context(), tok, ann, order42, works("second"))
				second <- err
			}()
			s.awaitWaiter()
			require.NotEqual(t, mine, s.field(tok, "owner"), "the second has reserved it")
			if fails {
				return nil, errBusiness
			}
			return works("first")(ctx, tx)
		})
		require.NoError(t, <-second)
		require.Equal(t, 1, s.effects())
		if fails {
			require.Equal(t, errBusiness, err)
			require.Equal(t, "second", string(r.Reply))
		} else {
			require.NoError(t, err)
			require.Equal(t, "first", string(r.Reply))
		}
		require.Equal(t, !fails, r.Replayed)
		require.NotEmpty(t, s.field(tok, "used"))
	}
}

// The naive use trusts the lease alone.
func TestNaiveLeaseDoesItTwice(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	ctx, b := t.Context(), s.client.B
	effects := 0
	use := func(event func()) {
		if s.client.Do(ctx, b().Set().Key("lease").Value("1").Nx().Px(time.Hour).Build()).Error() != nil {
			return
		}
		event()
		effects++
		require.NoError(t, s.client.Do(ctx, b().Set().Key("lease").Value("used").Build()).Error())
	}
	use(func() {
		s.redis.Flush()
		use(func() {})
	})
	require.Equal(t, 2, effects)
}

// A reservation that a second use waits for in Redis: it takes over when the first
// gives the token back.
func TestSecondUseTakesOverFromOneThatFails(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	second := make(chan error, 1)
	asked := make(chan struct{})
	var r token.Result
	_, err := s.Use(t.Context(), tok, ann, order42, func(context.Context, pgx.Tx) ([]byte, error) {
		go func() {
			close(asked)
			var err error
			r, err = s.Use(t.Context(), tok, ann, order42, works("second"))
			second <- err
		}()
		<-asked
		return nil, errBusiness
	})
	require.Equal(t, errBusiness, err)
	require.NoError(t, <-second)
	require.Equal(t, "second", string(r.Reply))
}

// A caller who goes away while it reserves the token does not keep it from others
// until the lease is over.
func TestCallerGoesAwayWhileItReserves(t *testing.T) {
	t.Parallel()
	s := open(t, tokenredis.Config{Lease: time.Hour, Call: 2 * time.Second})
	tok := s.issue()
	ctx, cancel := context.WithCancel(t.Context())
	store, err := tokenredis.New(testredis.Leaving{Client: s.client, Caller: ctx, Leave: cancel}, s.pool, tokenredis.Config{Lease: time.Hour, Call: 2 * time.Second})
	require.NoError(t, err)
	_, err = store.Use(ctx, tok, ann, order42, s.never)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, s.field(tok, "owner"))
	s.use(s.Store, tok, false)
}

// While Redis is gone, what has a row works, new tokens have rows, and a token that
// Redis alone knows is neither good nor bad. It is good again when Redis is.
func TestWithoutRedis(t *testing.T) {
	t.Parallel()
	var failures int
	c := lasting
	c.Failed = func(err error) { failures++ }
	s := open(t, c)
	used, unused := s.issue(), s.issue()
	s.use(s.Store, used, false)
	s.redis.Kill()

	s.use(s.Store, used, true)
	_, err := s.Use(t.Context(), unused, ann, order42, s.never)
	require.ErrorIs(t, err, tokenredis.ErrUnavailable)
	require.NotErrorIs(t, err, token.ErrInvalid)
	row := s.issue()
	_, err = s.Use(t.Context(), row, bob, order42, s.never)
	require.Equal(t, token.WrongPrincipal, reason(t, err))
	s.use(s.Store, row, false)
	require.Equal(t, 1, failures, "later calls did not ask again")

	s.redis.Restart()
	back := s.store(tokenredis.Config{Lease: time.Minute, Call: 5 * time.Second})
	s.use(back, unused, false)
	s.use(back, used, true)
	s.use(back, row, true)
	require.Equal(t, 3, s.effects())
}

// Tokens that Redis lost are invalid, and nothing was done with them.
func TestFlushedTokenIsInvalid(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	s.redis.Flush()
	_, err := s.Use(t.Context(), tok, ann, order42, s.never)
	require.Equal(t, token.Unknown, reason(t, err))
}

// A Redis restored from before the use knows nothing of it; PostgreSQL does.
func TestRestoredRedis(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	ctx, b := t.Context(), s.client.B
	keys, err := s.client.Do(ctx, b().Keys().Pattern("*").Build()).AsStrSlice()
	require.NoError(t, err)
	dump, err := s.client.Do(ctx, b().Dump().Key(keys[0]).Build()).ToString()
	require.NoError(t, err)
	s.use(s.Store, tok, false)
	require.NoError(t, s.client.Do(ctx, b().Restore().Key(keys[0]).Ttl(60_000).SerializedValue(dump).Replace().Build()).Error())
	s.use(s.Store, tok, true)
	require.Equal(t, 1, s.effects())
}

// Calls of a Redis that stands still end at the bound, and PostgreSQL goes on; the
// time that a call takes is said when it takes too long.
func TestStoppedRedisIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, tokenredis.Config{Lease: time.Minute, Call: 100 * time.Millisecond, Down: time.Hour})
	s.redis.Pause()
	began := time.Now()
	tok := s.issue()
	s.use(s.Store, tok, false)
	s.use(s.Store, tok, true)
	require.Less(t, time.Since(began), 10*time.Second)
	s.redis.Resume()
}
