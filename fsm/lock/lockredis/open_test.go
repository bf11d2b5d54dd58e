package lockredis_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

// A program starts while Redis is away; PostgreSQL has the lock until it is there.
func TestOpenWithoutRedis(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.redis.Kill()
	inRedis, err := lockredis.Open(rueidis.ClientOption{InitAddress: []string{s.redis.Addr}}, s.pool, lasting)
	require.NoError(t, err)
	t.Cleanup(inRedis.Close)
	inPostgres, err := lock.NewPostgres(s.pool, lock.Config{MaxHold: time.Minute})
	require.NoError(t, err)
	both, err := lock.Fallback(inRedis, inPostgres, lock.Rule{Stay: time.Nanosecond})
	require.NoError(t, err)

	owners := []string{}
	note := func(context.Context, lock.Held) error {
		owners = append(owners, s.owner())
		return nil
	}
	never := func(context.Context, lock.Held) error { return errBusiness }
	require.ErrorIs(t, inRedis.With(t.Context(), name, never), lock.ErrUnavailable)
	require.NoError(t, both.With(t.Context(), name, func(context.Context, lock.Held) error { return nil }))
	s.redis.Restart()
	require.NoError(t, both.With(t.Context(), name, note))
	require.Len(t, owners, 1)
	require.NotEmpty(t, owners[0], "it is Redis that has the lock")

	inRedis.Close()
	require.ErrorIs(t, inRedis.With(t.Context(), name, never), lock.ErrUnavailable)
	_, err = lockredis.Open(rueidis.ClientOption{}, s.pool, lockredis.Config{})
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// The client of New is not the locker's to close.
func TestCloseLeavesTheClientOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.locker(lasting).Close()
	require.Empty(t, s.owner())
}
