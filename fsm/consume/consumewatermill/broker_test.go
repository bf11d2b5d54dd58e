package consumewatermill_test

import (
	"context"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-amqp/v3/pkg/amqp"
	"github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testrabbit"
)

const topic = "paid"

// patience is how long a test waits for something that a broker does of its own.
const patience = 3 * time.Minute

// broker is a real one, which delivers a topic's messages until they are acknowledged.
type broker interface {
	// publish publishes one message a key.
	publish(t *testing.T, keys []string)
	// left is how many messages are not acknowledged, once no subscriber has any.
	left(t *testing.T) int
	// name and url are what subscribe takes, in another process too.
	name() string
	url() string
}

// subscribe returns a subscriber to a broker's topic.
func subscribe(name, url string) (message.Subscriber, error) {
	if name == "nats" {
		return natsSubscriber(url)
	}
	return amqp.NewSubscriber(rabbitConfig(url), watermill.NopLogger{})
}

// natsBroker is a NATS server in this process.
type natsBroker struct {
	server *server.Server
	stream natsjs.Stream
}

func startNATS(t *testing.T) *natsBroker {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(t, s.ReadyForConnections(patience))
	conn, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := natsjs.New(conn)
	require.NoError(t, err)
	stream, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: topic, Subjects: []string{topic}})
	require.NoError(t, err)
	return &natsBroker{s, stream}
}

func (b *natsBroker) name() string { return "nats" }
func (b *natsBroker) url() string  { return b.server.ClientURL() }

func (b *natsBroker) publish(t *testing.T, keys []string) {
	t.Helper()
	publisher, err := jetstream.NewPublisher(jetstream.PublisherConfig{URL: b.url(), Logger: watermill.NopLogger{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, publisher.Close()) }()
	publishAll(t, publisher, keys)
}

func (b *natsBroker) left(t *testing.T) int {
	t.Helper()
	consumer, err := b.stream.Consumer(t.Context(), "shipping")
	require.NoError(t, err)
	info, err := consumer.Info(t.Context())
	require.NoError(t, err)
	return int(info.NumPending) + info.NumAckPending
}

// natsSubscriber has a durable consumer: what is not acknowledged within AckWait, or
// is given back, comes again.
func natsSubscriber(url string) (message.Subscriber, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		return nil, err
	}
	return jetstream.NewSubscriber(jetstream.SubscriberConfig{
		Conn:     conn,
		Logger:   watermill.NopLogger{},
		NakDelay: jetstream.NewStaticDelay(50 * time.Millisecond),
		ResourceInitializer: func(ctx context.Context, js natsjs.JetStream, topic string) (natsjs.Consumer, func(context.Context, watermill.LoggerAdapter), error) {
			consumer, err := js.CreateOrUpdateConsumer(ctx, topic, natsjs.ConsumerConfig{
				Durable: "shipping", AckPolicy: natsjs.AckExplicitPolicy, AckWait: 5 * time.Second, MaxAckPending: 20,
			})
			return consumer, nil, err
		},
	})
}

// rabbitBroker is a RabbitMQ server.
type rabbitBroker struct{ server *testrabbit.Server }

func (b rabbitBroker) name() string { return "rabbit" }
func (b rabbitBroker) url() string  { return b.server.URL() }

func (b rabbitBroker) publish(t *testing.T, keys []string) {
	t.Helper()
	publisher, err := amqp.NewPublisher(rabbitConfig(b.url()), watermill.NopLogger{})
	require.NoError(t, err)
	defer func() { require.NoError(t, publisher.Close()) }()
	publishAll(t, publisher, keys)
}

func (b rabbitBroker) left(t *testing.T) int {
	t.Helper()
	return b.server.Messages(topic, topic+".again")
}

// rabbitConfig has a message that is given back wait in a queue of its own, from which
// it goes back to the end of the first one: returned to its head, as RabbitMQ does by
// itself, it would be in the way of those behind it.
func rabbitConfig(url string) amqp.Config {
	config := amqp.NewDurableQueueConfig(url)
	config.Consume.NoRequeueOnNack = true
	config.Consume.Qos.PrefetchCount = 10
	config.Publish.ConfirmDelivery = true
	config.Queue.Arguments = map[string]any{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": topic + ".again"}
	config.TopologyBuilder = waiting{config.TopologyBuilder}
	config.Marshaler = texts{amqp.DefaultMarshaler{}}
	return config
}

// texts takes a message that has waited: RabbitMQ tells in its headers why, in lists
// that Watermill's own marshaler refuses, time after time.
type texts struct{ amqp.DefaultMarshaler }

func (m texts) Unmarshal(d amqp091.Delivery) (*message.Message, error) {
	headers := amqp091.Table{}
	for name, value := range d.Headers {
		if text, ok := value.(string); ok {
			headers[name] = text
		}
	}
	d.Headers = headers
	return m.DefaultMarshaler.Unmarshal(d)
}

// waiting builds the queue in which messages wait.
type waiting struct{ amqp.TopologyBuilder }

func (w waiting) BuildTopology(channel *amqp091.Channel, p amqp.BuildTopologyParams, c amqp.Config, l watermill.LoggerAdapter) error {
	_, err := channel.QueueDeclare(topic+".again", true, false, false, false, map[string]any{
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": topic, "x-message-ttl": int32(50),
	})
	if err != nil {
		return err
	}
	return w.TopologyBuilder.BuildTopology(channel, p, c, l)
}

func publishAll(t *testing.T, publisher message.Publisher, keys []string) {
	t.Helper()
	for _, key := range keys {
		require.NoError(t, publisher.Publish(topic, message.NewMessage(watermill.NewUUID(), []byte(key))))
	}
}
