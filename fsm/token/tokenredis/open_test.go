package tokenredis_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
)

// A program starts while Redis is away; PostgreSQL has the tokens until it is there.
func TestOpenWithoutRedis(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	s.redis.Kill()
	c := tokenredis.Config{Lease: time.Minute, Call: 10 * time.Second, Down: time.Nanosecond}
	store, err := tokenredis.Open(rueidis.ClientOption{InitAddress: []string{s.redis.Addr}}, s.pool, c)
	require.NoError(t, err)
	t.Cleanup(store.Close)

	rows := func() int { return s.count(`SELECT count(*) FROM fsm_token`) }
	use := func() {
		t.Helper()
		tok, err := store.Issue(t.Context(), pay, ann, order42)
		require.NoError(t, err)
		_, err = store.Use(t.Context(), tok, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			_, err := tx.Exec(ctx, `INSERT INTO effects (note) VALUES ('x')`)
			return nil, err
		})
		require.NoError(t, err)
	}
	_, err = store.Issue(t.Context(), pay, ann, order42)
	require.NoError(t, err)
	require.Equal(t, 1, rows())
	use()
	require.Equal(t, 2, rows())

	s.redis.Restart()
	_, err = store.Issue(t.Context(), pay, ann, order42)
	require.NoError(t, err)
	require.Equal(t, 2, rows(), "it is Redis that has the token")
	use()
	require.Equal(t, 2, s.effects())

	store.Close()
	use()
	require.Equal(t, 3, s.effects(), "PostgreSQL goes on")
	_, err = tokenredis.Open(rueidis.ClientOption{}, s.pool, tokenredis.Config{})
	require.ErrorIs(t, err, fsm.ErrArgument)
}
