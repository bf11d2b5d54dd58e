package relaywatermill_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/relay/relaywatermill"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// patience bounds every wait, and is never waited out by a test that passes.
const patience = 30 * time.Second

// jetStream starts a NATS server of the test's own.
func jetStream(t *testing.T) *natsgo.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	require.NoError(t, err)
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(patience))
	conn, err := natsgo.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// Through a real JetStream: a relay that crashed sends again, and the stream knows
// the messages by their ids, so each is there once and in the order of its key.
func TestJetStreamKnowsDuplicates(t *testing.T) {
	t.Parallel()
	const events = 20
	conn := jetStream(t)
	js, err := conn.JetStream()
	require.NoError(t, err)
	_, err = js.AddStream(&natsgo.StreamConfig{Name: "orders", Subjects: []string{"orders.>"}, Duplicates: time.Minute})
	require.NoError(t, err)
	publisher, err := nats.NewPublisherWithNatsConn(conn, nats.PublisherPublishConfig{
		Marshaler: &nats.NATSMarshaler{}, SubjectCalculator: nats.DefaultSubjectCalculator, JetStream: nats.JetStreamConfig{TrackMsgId: true},
	}, nil)
	require.NoError(t, err)

	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	for v := range events {
		for _, key := range []string{"a", "b"} {
			_, err := pool.Exec(t.Context(), `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
				VALUES ('order', $1, $2, 'pay', 'order_paid', jsonb_build_object('key', $1::text), now())`, key, v+1)
			require.NoError(t, err)
		}
	}
	r := &relay.Relay{DB: pool, Batch: 16, Publisher: &relaywatermill.Publisher{
		Publisher: publisher, Topic: func(m relay.Message) string { return "orders." + m.Topic },
	}}
	sent := 0
	for crashes := 0; sent < 2*events; {
		ctx := t.Context()
		if crashes < 3 {
			ctx, crashes = fault.With(ctx, relay.Sent, fault.Nth(7, fault.Fail)), crashes+1
		}
		n, err := r.Once(ctx)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInjected)
		}
		sent += n
	}

	info, err := js.StreamInfo("orders")
	require.NoError(t, err)
	require.EqualValues(t, 2*events, info.State.Msgs, "each once, though three crashes sent some again")
	sub, err := js.SubscribeSync("orders.>", natsgo.DeliverAll(), natsgo.OrderedConsumer())
	require.NoError(t, err)
	got, want := map[string][]string{}, map[string][]string{}
	for range 2 * events {
		raw, err := sub.NextMsg(patience)
		require.NoError(t, err)
		require.Equal(t, "orders.order_paid", raw.Subject)
		msg, err := (&nats.NATSMarshaler{}).Unmarshal(raw)
		require.NoError(t, err)
		m, err := relaywatermill.Parse(msg)
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"key": %q}`, m.Key), string(m.Payload))
		got[m.Key] = append(got[m.Key], fmt.Sprint(m.Machine, " ", m.Version, " ", m.Event, " ", m.Topic))
	}
	for v := range events {
		for _, key := range []string{"a", "b"} {
			want[key] = append(want[key], fmt.Sprint("order ", v+1, " pay order_paid"))
		}
	}
	require.Equal(t, want, got)
}
