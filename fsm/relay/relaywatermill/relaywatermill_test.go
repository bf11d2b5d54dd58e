package relaywatermill_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/relay/relaywatermill"
)

// publisher is a function as a Publisher of Watermill.
type publisher func(topic string, msg *message.Message) error

func (p publisher) Publish(topic string, msgs ...*message.Message) error { return p(topic, msgs[0]) }
func (publisher) Close() error                                           { return nil }

var paid = relay.Message{
	ID: "id", Row: 7, Machine: "order", Key: "k", Version: 3, Event: "payment_succeeded", Topic: "order_paid",
	Payload: []byte(`{"a": 1}`), At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600)),
}

func TestPublish(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	var topic string
	var got *message.Message
	p := &relaywatermill.Publisher{Publisher: publisher(func(t string, msg *message.Message) error {
		topic, got = t, msg
		return boom
	})}
	require.Equal(t, boom, p.Publish(t.Context(), paid))
	require.Equal(t, "order_paid", topic)
	require.Equal(t, "id", got.UUID)
	require.Equal(t, message.Payload(`{"a": 1}`), got.Payload)
	require.Equal(t, message.Metadata{
		"machine": "order", "key": "k", "version": "3", "event": "payment_succeeded", "topic": "order_paid", "at": "2026-01-02T02:04:05.000006Z",
	}, got.Metadata)

	back, err := relaywatermill.Parse(got)
	require.NoError(t, err)
	require.True(t, paid.At.Equal(back.At))
	want := paid
	want.Row, want.At, back.At = 0, time.Time{}, time.Time{}
	require.Equal(t, want, back)

	p.Topic = func(m relay.Message) string { return "shop." + m.Machine }
	p.Prepare = func(m relay.Message, msg *message.Message) error { msg.Metadata["trace"] = m.Key; return nil }
	require.Equal(t, boom, p.Publish(t.Context(), paid))
	require.Equal(t, "shop.order", topic)
	require.Equal(t, "k", got.Metadata["trace"])
}

func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	never := publisher(func(string, *message.Message) error { t.Error("sent"); return nil })
	boom := errors.New("boom")
	require.ErrorIs(t, (&relaywatermill.Publisher{}).Publish(t.Context(), paid), relaywatermill.ErrNoPublisher)
	require.ErrorIs(t, (&relaywatermill.Publisher{Publisher: never, Topic: func(relay.Message) string { return "" }}).Publish(t.Context(), paid), relaywatermill.ErrNoTopic)
	require.ErrorIs(t, (&relaywatermill.Publisher{Publisher: never, Prepare: func(relay.Message, *message.Message) error { return boom }}).Publish(t.Context(), paid), boom)
}

// A publisher that looks at no context is not waited for longer than that, and
// one that panics kills nobody.
func TestThePublisherMisbehaves(t *testing.T) {
	t.Parallel()
	leave := make(chan struct{})
	defer close(leave)
	ctx, cancel := context.WithCancel(t.Context())
	hangs := publisher(func(string, *message.Message) error { cancel(); <-leave; return nil })
	require.ErrorIs(t, (&relaywatermill.Publisher{Publisher: hangs}).Publish(ctx, paid), context.Canceled)
	panics := publisher(func(string, *message.Message) error { panic("oh") })
	require.ErrorContains(t, (&relaywatermill.Publisher{Publisher: panics}).Publish(t.Context(), paid), "panicked: oh")
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, key := range []string{relaywatermill.Version, relaywatermill.At} {
		msg := relaywatermill.Message(paid)
		msg.Metadata[key] = "x"
		_, err := relaywatermill.Parse(msg)
		require.ErrorContains(t, err, key)
	}
}
