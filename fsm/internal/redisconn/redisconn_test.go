package redisconn_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/internal/redisconn"
	"github.com/pawl-go/pawl/internal/testredis"
)

func option(s *testredis.Server) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{s.Addr}}
}

// Who asks while Redis is away gets an error, and who asks later a client.
func TestConnectsWhenRedisIsThere(t *testing.T) {
	t.Parallel()
	redis := testredis.Start(t)
	redis.Kill()
	c := redisconn.To(option(redis))
	t.Cleanup(c.Close)
	for range 2 {
		_, err := c.Client(t.Context())
		require.Error(t, err)
	}
	redis.Restart()
	client, err := c.Client(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Do(t.Context(), client.B().Ping().Build()).Error())
}

func TestManyShareOneClient(t *testing.T) {
	t.Parallel()
	c := redisconn.To(option(testredis.Start(t)))
	t.Cleanup(c.Close)
	clients := make([]rueidis.Client, 20)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { clients[i], _ = c.Client(t.Context()) })
	}
	wg.Wait()
	for _, client := range clients {
		require.NotNil(t, client)
		require.Same(t, clients[0], client)
	}
}

// Redis accepts and says nothing: a caller waits for no longer than it likes.
func TestNobodyWaitsForLongerThanItsContext(t *testing.T) {
	t.Parallel()
	redis := testredis.Start(t)
	redis.Pause()
	c := redisconn.To(option(redis))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Client(ctx)
	require.ErrorIs(t, err, context.Canceled)
	redis.Resume()
	_, err = c.Client(t.Context())
	require.NoError(t, err)

	c.Close()
	_, err = c.Client(t.Context())
	require.ErrorIs(t, err, redisconn.ErrClosed)
}

func TestClosedBeforeItWasMade(t *testing.T) {
	t.Parallel()
	c := redisconn.To(option(testredis.Start(t)))
	c.Close()
	_, err := c.Client(t.Context())
	require.ErrorIs(t, err, redisconn.ErrClosed)
	c.Close()
}

// Whatever has a connection may be printed, by any verb.
func TestThePasswordIsNotShown(t *testing.T) {
	t.Parallel()
	c := redisconn.To(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:1"}, Password: "sesame"})
	for _, verb := range "vTtbcdoOqxXUeEfFgGsp" {
		for _, flag := range []string{"", "+", "#"} {
			format := "%" + flag + string(verb)
			shown := fmt.Sprintf(format, c) + fmt.Sprintf(format, struct{ conn *redisconn.Conn }{c})
			require.NotContains(t, shown, "sesame")
			require.NotContains(t, shown, fmt.Sprintf("%x", "sesame"))
		}
	}
}
