package testrabbit

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

func TestServer(t *testing.T) {
	t.Parallel()
	var addr string
	started := t.Run("run", func(t *testing.T) {
		addr = Start(t).Addr
		require.NoError(t, greet(addr))
	})
	if started && addr != "" {
		require.Error(t, greet(addr), "it ended with its test")
	}
}

// A message that a consumer has and has not acknowledged is still the queue's.
func TestMessages(t *testing.T) {
	t.Parallel()
	server := Start(t)
	conn, err := amqp.Dial(server.URL())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	channel, err := conn.Channel()
	require.NoError(t, err)
	_, err = channel.QueueDeclare("work", true, false, false, false, nil)
	require.NoError(t, err)
	_, err = channel.QueueDeclare("other", true, false, false, false, nil)
	require.NoError(t, err)
	require.Zero(t, server.Messages("work", "other"))
	require.NoError(t, channel.Confirm(false))
	sent, err := channel.PublishWithDeferredConfirmWithContext(t.Context(), "", "work", true, false, amqp.Publishing{Body: []byte("m")})
	require.NoError(t, err)
	require.True(t, sent.Wait())
	message, there, err := channel.Get("work", false)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, 1, server.Messages("work"))
	require.Zero(t, server.Messages("other"))
	require.NoError(t, message.Ack(false))
	require.NoError(t, channel.Close()) // what was sent before is done with
	require.Zero(t, server.Messages("work"))
}
