package consumewatermill_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumewatermill"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const effectsSQL = `CREATE TABLE effects (key text NOT NULL)`

func newConsumer(t *testing.T) (*consume.Consumer, *pgxpool.Pool) {
	t.Helper()
	db := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := db.Exec(t.Context(), effectsSQL)
	require.NoError(t, err)
	return &consume.Consumer{DB: db, Name: "shipping", Lease: time.Minute, Tries: 2}, db
}

// effect is a handler of Watermill's that has one effect, in the transaction.
func effect(m *message.Message) ([]*message.Message, error) {
	_, err := consumewatermill.Tx(m.Context()).Exec(m.Context(), `INSERT INTO effects (key) VALUES ($1)`, string(m.Payload))
	return nil, err
}

func effects(t *testing.T, db *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM effects`).Scan(&n))
	return n
}

func TestWhatTheRouterIsTold(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	boom := errors.New("boom")
	handle := consumewatermill.Middleware(c, consumewatermill.Options{})(effect)
	failing := consumewatermill.Middleware(c, consumewatermill.Options{})(func(m *message.Message) ([]*message.Message, error) {
		_, _ = effect(m)
		return nil, boom
	})
	deliver := func(h message.HandlerFunc, uuid string) error {
		m := message.NewMessage(uuid, []byte(uuid))
		m.SetContext(t.Context())
		produced, err := h(m)
		require.Empty(t, produced)
		require.Nil(t, consumewatermill.Tx(m.Context()), "the transaction has ended")
		return err
	}
	require.NoError(t, deliver(handle, "a"))
	require.NoError(t, deliver(handle, "a"), "a duplicate is acknowledged")
	require.Equal(t, 1, effects(t, db))
	require.Equal(t, boom, deliver(failing, "b"), "the first failure gives it back")
	require.NoError(t, deliver(failing, "b"), "the last one stores it")
	require.NoError(t, deliver(handle, "b"), "and there it is")
	require.NoError(t, deliver(handle, ""), "a message without a key is stored")
	require.Equal(t, 1, effects(t, db))
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 2)

	nested := consumewatermill.Middleware(c, consumewatermill.Options{})(func(m *message.Message) ([]*message.Message, error) {
		require.ErrorIs(t, deliver(handle, "c"), consume.ErrInProgress, "in progress is given back")
		return effect(m)
	})
	require.NoError(t, deliver(nested, "c"))
	require.Equal(t, 2, effects(t, db))
}

func TestKeyOfTheBusiness(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	handle := consumewatermill.Middleware(c, consumewatermill.Options{
		Key: func(m *message.Message) string { return m.Metadata.Get("order") },
	})(effect)
	for range 3 { // published again, with another UUID each time
		m := message.NewMessage(watermill.NewUUID(), []byte("17"))
		m.Metadata.Set("order", "17")
		_, err := handle(m)
		require.NoError(t, err)
	}
	require.Equal(t, 1, effects(t, db))
}

// Messages that a handler returns would be published after the commit or never.
func TestProducedMessages(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	produce := func(m *message.Message) ([]*message.Message, error) {
		_, err := effect(m)
		return []*message.Message{message.NewMessage("out", []byte("shipped"))}, err
	}
	_, err := consumewatermill.Middleware(c, consumewatermill.Options{})(produce)(message.NewMessage("a", []byte("a")))
	require.ErrorIs(t, err, consumewatermill.ErrProduced)
	require.Equal(t, 0, effects(t, db))
	outbox := consumewatermill.Options{Produced: func(ctx context.Context, tx pgx.Tx, produced []*message.Message) error {
		_, err := tx.Exec(ctx, `INSERT INTO effects (key) VALUES ($1)`, "outbox "+string(produced[0].Payload))
		return err
	}}
	out, err := consumewatermill.Middleware(c, outbox)(produce)(message.NewMessage("a", []byte("a")))
	require.NoError(t, err)
	require.Empty(t, out)
	require.Equal(t, 2, effects(t, db))
}

// startRouter runs a router with the middleware until the test ends or stop is called.
func startRouter(t *testing.T, subscriber message.Subscriber, topic string, c *consume.Consumer, handle message.HandlerFunc) (stop func()) {
	t.Helper()
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: 20 * time.Second}, watermill.NopLogger{})
	require.NoError(t, err)
	router.AddMiddleware(consumewatermill.Middleware(c, consumewatermill.Options{Key: businessKey}))
	router.AddConsumerHandler("ship", topic, subscriber, func(m *message.Message) error {
		_, err := handle(m)
		return err
	})
	ended := make(chan error, 1)
	go func() { ended <- router.Run(context.WithoutCancel(t.Context())) }()
	<-router.Running()
	return func() {
		t.Helper()
		require.NoError(t, router.Close())
		require.NoError(t, <-ended)
	}
}

// businessKey is the payload: a message that is published again has another UUID.
func businessKey(m *message.Message) string { return string(m.Payload) }

// A poisoned message among good ones: it is given up, and the good ones are done. The
// report: a dead message holds its key; requeueing it publishes it, and it is done.
func TestPoisonAmongGoodOnes(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	outcomes := make(chan consume.Report, 100)
	c.Observe = func(_ context.Context, r consume.Report) { outcomes <- r }
	broker := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 100}, watermill.NopLogger{})
	poisoned := true
	stop := startRouter(t, broker, "paid", c, func(m *message.Message) ([]*message.Message, error) {
		if poisoned && string(m.Payload) == "poison" {
			return nil, errors.New("poisoned")
		}
		return effect(m)
	})
	await := func(want map[string]consume.Outcome) {
		t.Helper()
		got := map[string]consume.Outcome{}
		for len(got) < len(want) {
			if r := <-outcomes; r.Outcome.Ack() {
				got[r.Key] = r.Outcome
			}
		}
		require.Equal(t, want, got)
	}
	for _, key := range []string{"a", "poison", "b", "c"} {
		require.NoError(t, broker.Publish("paid", message.NewMessage(watermill.NewUUID(), []byte(key))))
	}
	await(map[string]consume.Outcome{"a": consume.Done, "b": consume.Done, "c": consume.Done, "poison": consume.Dead})
	require.Equal(t, 3, effects(t, db))
	poisoned = false
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.Equal(t, "paid", letters[0].Message.Topic)
	_, err = c.Requeue(t.Context(), letters[0].ID, fsm.Correction{Actor: "ada", Reason: "fixed"}, func(_ context.Context, _ pgx.Tx, m consume.Message) error {
		return broker.Publish(m.Topic, consumewatermill.Message(m))
	})
	require.NoError(t, err)
	await(map[string]consume.Outcome{"poison": consume.Done})
	require.Equal(t, 4, effects(t, db))
	stop()
}
