package tokenredis_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
)

func TestUseAndReplay(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	require.Zero(t, s.count(`SELECT count(*) FROM fsm_token`), "issuing costs the database nothing")
	first := s.use(s.Store, tok, false)
	require.Empty(t, s.field(tok, "owner"))
	require.Equal(t, first.At.UTC().Format(time.RFC3339Nano), s.field(tok, "used"), "it points to the use")
	again := s.use(s.Store, token.From(tok.Reveal()), true)
	require.True(t, first.At.Equal(again.At))
	require.Equal(t, 1, s.effects())
	require.Equal(t, 1, s.count(`SELECT count(*) FROM fsm_token WHERE kind = 'pay' AND keep = '24 h'
		AND expires_at - issued_at BETWEEN '29 min' AND '30 min' AND sweep_at - used_at = '24 h'`))
}

// Of 50 parallel uses one does something; the others get its reply.
func TestFiftyParallelUses(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	const users = 50
	results, errs := make([]token.Result, users), make([]error, users)
	var wg sync.WaitGroup
	for i := range users {
		wg.Go(func() { results[i], errs[i] = s.Use(t.Context(), tok, ann, order42, works("paid")) })
	}
	wg.Wait()
	replays := 0
	for i := range users {
		require.NoError(t, errs[i])
		require.Equal(t, "paid", string(results[i].Reply))
		require.True(t, results[0].At.Equal(results[i].At))
		if results[i].Replayed {
			replays++
		}
	}
	require.Equal(t, users-1, replays)
	require.Equal(t, 1, s.effects())
}

// The token consumed before the change: a change that fails costs the token. With
// GET and DEL in one script, as is common, it does; here it does not.
func TestFailedBusinessKeepsTheToken(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	naive := func(fn func() error) (bool, error) {
		n, err := s.client.Do(t.Context(), s.client.B().Del().Key("naive").Build()).AsInt64()
		if err != nil || n == 0 {
			return false, err
		}
		return true, fn()
	}
	require.NoError(t, s.client.Do(t.Context(), s.client.B().Set().Key("naive").Value("1").Build()).Error())
	_, err := naive(func() error { return errBusiness })
	require.ErrorIs(t, err, errBusiness)
	again, err := naive(func() error { return nil })
	require.NoError(t, err)
	require.False(t, again, "the naive one has lost its token")

	tok := s.issue()
	fails := func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		_, err := works("half")(ctx, tx)
		require.NoError(t, err)
		require.NotEmpty(t, s.field(tok, "owner"), "it is reserved")
		return nil, errBusiness
	}
	for range 2 {
		_, err := s.Use(t.Context(), tok, ann, order42, fails)
		require.Equal(t, errBusiness, err)
		require.Empty(t, s.field(tok, "owner"), "it is given back")
	}
	require.Panics(t, func() {
		_, _ = s.Use(t.Context(), tok, ann, order42, func(context.Context, pgx.Tx) ([]byte, error) { panic("bug") })
	})
	require.Zero(t, s.effects())
	require.Zero(t, s.count(`SELECT count(*) FROM fsm_token`))
	s.use(s.Store, tok, false)
}

// Whatever is wrong, the error says the same, changes nothing, and leaves the
// token to its principal.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	unknown, err := token.New(pay)
	require.NoError(t, err)
	tok := s.issue()
	for _, used := range []bool{false, true} {
		for _, tc := range []struct {
			token              token.Token
			principal, purpose string
			want               token.Reason
		}{
			{token.From("pay_x"), ann, order42, token.Malformed},
			{token.From(strings.Repeat("x", 10_000)), ann, order42, token.Malformed},
			{unknown, ann, order42, token.Unknown},
			{tok, bob, order42, token.WrongPrincipal},
			{tok, ann, "pay order 43", token.WrongPurpose},
		} {
			r, err := s.Use(t.Context(), tc.token, tc.principal, tc.purpose, s.never)
			require.Equal(t, tc.want, reason(t, err))
			require.Zero(t, r)
			require.Empty(t, s.field(tok, "owner"))
		}
		s.use(s.Store, tok, used)
	}
	for _, text := range []string{"", "sesame\x00", "sesame\xff", strings.Repeat("sesame", 1000)} {
		_, err := s.Use(t.Context(), tok, text, order42, s.never)
		require.ErrorIs(t, err, fsm.ErrArgument)
		require.NotContains(t, err.Error(), "sesame")
		_, err = s.Issue(t.Context(), pay, ann, text)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
	_, err = s.Issue(t.Context(), token.Kind{}, ann, order42)
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// A token is good for its TTL, by the clock of Redis before the use.
func TestExpiredToken(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok, err := s.Issue(t.Context(), token.Kind{Name: "a", TTL: time.Millisecond, AnyTTL: true, Keep: time.Hour}, ann, order42)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		n, err := s.client.Do(t.Context(), s.client.B().Dbsize().Build()).AsInt64()
		return err == nil && n == 0
	}, 20*time.Second, 5*time.Millisecond)
	_, err = s.Use(t.Context(), tok, ann, order42, s.never)
	require.Equal(t, token.Unknown, reason(t, err))
}

// After the token is gone from Redis the reply is still there.
func TestReplyOutlivesTheToken(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok := s.issue()
	first := s.use(s.Store, tok, false)
	s.redis.Flush()
	require.True(t, first.At.Equal(s.use(s.Store, tok, true).At))
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	revoke := func(tok token.Token) bool {
		done, err := s.Revoke(t.Context(), tok)
		require.NoError(t, err)
		return done
	}
	tok, used := s.issue(), s.issue()
	_, err := s.Use(t.Context(), used, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		require.False(t, revoke(used), "it is being used")
		return []byte("paid"), nil
	})
	require.NoError(t, err)
	require.False(t, revoke(used), "it was used")
	require.False(t, revoke(token.From("x")))
	require.True(t, revoke(tok))
	require.False(t, revoke(tok))
	_, err = s.Use(t.Context(), tok, ann, order42, s.never)
	require.ErrorIs(t, err, token.ErrInvalid)
	s.redis.Kill()
	_, err = s.Revoke(t.Context(), tok)
	require.ErrorIs(t, err, tokenredis.ErrUnavailable)
	row := s.issue()
	require.True(t, revoke(row), "a token issued without Redis")
}

func TestConfigsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []tokenredis.Config{
		{}, {Lease: -1}, {Lease: time.Second, Wait: -1}, {Lease: time.Second, Call: -1}, {Lease: time.Second, Down: -1},
	} {
		_, err := tokenredis.Open(rueidis.ClientOption{}, nil, c)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
	_, err := tokenredis.New(nil, nil, tokenredis.Config{Lease: time.Second})
	require.ErrorIs(t, err, fsm.ErrArgument, "no client")
}

// The lease of a slow use has run out: Revoke waits for what becomes of it, in
// PostgreSQL, where nobody sees its row yet.
func TestRevokeDuringSlowUse(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		s := open(t, tokenredis.Config{Lease: time.Millisecond, Call: 2 * time.Second})
		tok := s.issue()
		type answer struct {
			revoked bool
			err     error
		}
		told := make(chan answer, 1)
		_, err := s.Use(t.Context(), tok, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			require.Eventually(t, func() bool { return s.leaseIsOver(tok) }, 20*time.Second, time.Millisecond)
			go func() {
				revoked, err := s.Revoke(context.WithoutCancel(ctx), tok)
				told <- answer{revoked, err}
			}()
			s.awaitWaiter()
			if fails {
				return nil, errBusiness
			}
			return works("paid")(ctx, tx)
		})
		if fails {
			require.ErrorIs(t, err, errBusiness)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, answer{revoked: fails}, <-told)
		_, err = s.Use(t.Context(), tok, ann, order42, s.never)
		require.Equal(t, fails, err != nil, "it replays, or is revoked")
	}
}

// A token is revoked between its reservation in Redis and the use in PostgreSQL, whose
// lease has run out by then. The use finds that out, and so does one in a Redis that is
// restored from before.
func TestRevokedIsRevoked(t *testing.T) {
	t.Parallel()
	s := open(t, tokenredis.Config{Lease: time.Millisecond, Call: 2 * time.Second})
	tok := s.issue()
	key := s.key()
	before, err := s.client.Do(t.Context(), s.client.B().Dump().Key(key).Build()).ToString()
	require.NoError(t, err)
	reserved := fault.With(t.Context(), tokenredis.PointReserved, func(ctx context.Context) error {
		require.Eventually(t, func() bool { return s.leaseIsOver(tok) }, 20*time.Second, time.Millisecond)
		revoked, err := s.Revoke(ctx, tok)
		require.NoError(t, err)
		require.True(t, revoked)
		return nil
	})
	_, err = s.Use(reserved, tok, ann, order42, s.never)
	require.Equal(t, token.Expired, reason(t, err))

	require.NoError(t, s.client.Do(t.Context(), s.client.B().Restore().Key(key).Ttl(time.Hour.Milliseconds()).SerializedValue(before).Build()).Error())
	_, err = s.Use(t.Context(), tok, ann, order42, s.never)
	require.Equal(t, token.Expired, reason(t, err))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM fsm_token WHERE sweep_at > now() + interval '29 min'`), "it is kept as long as the token")
	n, err := token.Sweep(t.Context(), s.pool, 0)
	require.NoError(t, err)
	require.Zero(t, n)
}

// What is documented: token.RevokeAll does not reach a token that is in Redis alone. A
// purpose that changes with the session does.
func TestRevokeAllDoesNotReachRedis(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	tok, err := s.Issue(t.Context(), pay, ann, order42+", session 7")
	require.NoError(t, err)
	n, err := token.RevokeAll(t.Context(), s.pool, ann)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = s.Use(t.Context(), tok, ann, order42+", session 8", s.never)
	require.Equal(t, token.WrongPurpose, reason(t, err))
	_, err = s.Use(t.Context(), tok, ann, order42+", session 7", works("paid"))
	require.NoError(t, err)
}
