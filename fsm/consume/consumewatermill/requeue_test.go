package consumewatermill_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	wnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumewatermill"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// newest is the message that came into the stream last, and how many are in it.
func (b *natsBroker) newest(t *testing.T) (*message.Message, uint64) {
	t.Helper()
	raw, err := b.stream.GetLastMsgForSubject(t.Context(), topic)
	require.NoError(t, err)
	m, err := (&wnats.NATSMarshaler{}).Unmarshal(&nats.Msg{Data: raw.Data, Header: raw.Header})
	require.NoError(t, err)
	info, err := b.stream.Info(t.Context())
	require.NoError(t, err)
	return m, info.State.Msgs
}

// JetStream drops a message whose id it knows, and acknowledges it: a dead letter that
// is published under its old id would be lost with its key free. So it has a new one,
// and is the old message again once it comes.
func TestRequeuedPastABrokerThatKnowsDuplicates(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	publisher, err := wnats.NewPublisher(wnats.PublisherConfig{
		URL: b.url(), Marshaler: &wnats.NATSMarshaler{}, JetStream: wnats.JetStreamConfig{TrackMsgId: true},
	}, watermill.NopLogger{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, publisher.Close()) })

	c := &consume.Consumer{DB: testdb.New(t, testdb.WithMigrations(migrations.FS)), Name: "shipping", Lease: time.Minute, Tries: 1}
	var seen []string
	broken := errors.New("broken")
	deliver := func(m *message.Message, err error) error {
		_, got := consumewatermill.Middleware(c, consumewatermill.Options{})(func(m *message.Message) ([]*message.Message, error) {
			seen = append(seen, m.UUID+" "+string(m.Payload)+" "+m.Metadata.Get("who"))
			require.Len(t, m.Metadata, 1, "with nothing of ours")
			return nil, err
		})(m)
		return got
	}

	first := message.NewMessage("id-1", []byte("work"))
	first.Metadata.Set("who", "ada")
	require.NoError(t, publisher.Publish(topic, first))
	for n := range uint64(2) {
		m, there := b.newest(t)
		require.Equal(t, n+1, there)
		require.NoError(t, deliver(m, broken), "a dead letter is acknowledged")
		letters, err := c.Letters(t.Context(), 0, 0)
		require.NoError(t, err)
		require.Len(t, letters, 1)
		require.Equal(t, "id-1", letters[0].Key)
		require.Equal(t, "id-1", letters[0].Message.ID)
		publish := func(_ context.Context, _ pgx.Tx, m consume.Message) error {
			if n == 0 { // as it was before
				old := message.NewMessage(m.ID, m.Payload)
				require.NoError(t, publisher.Publish(topic, old))
				_, there := b.newest(t)
				require.Equal(t, uint64(1), there, "the broker dropped it, and said nothing")
			}
			return publisher.Publish(topic, consumewatermill.Message(m))
		}
		_, err = c.Requeue(t.Context(), letters[0].ID, fsm.Correction{Actor: "ada", Reason: "fixed"}, publish)
		require.NoError(t, err)
	}
	m, there := b.newest(t)
	require.Equal(t, uint64(3), there)
	require.NoError(t, deliver(m, nil))
	again, _ := b.newest(t)
	require.NoError(t, deliver(again, broken), "a duplicate now")
	require.Equal(t, []string{"id-1 work ada", "id-1 work ada", "id-1 work ada"}, seen)
}

// What had no id has a new one, and its key is what it is made of.
func TestMessageWithoutAnID(t *testing.T) {
	t.Parallel()
	m := consumewatermill.Message(consume.Message{Payload: []byte("work")})
	require.NotEmpty(t, m.UUID)
	require.Empty(t, m.Metadata)
}
