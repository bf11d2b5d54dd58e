package shop_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/relay"
)

// outbox is how many messages wait, and how many mails are booked.
func (b *bench) outbox() string {
	b.t.Helper()
	return b.value("SELECT (SELECT count(*) FROM fsm_outbox) || ' ' || count(*) FROM shop_mails")
}

func TestPaidOrderHasOneMail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	_, err := b.service.Relay().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0 1", b.outbox())
	require.Equal(t, orderA+" order_paid", b.value("SELECT order_id || ' ' || kind FROM shop_mails"))
	// Somebody has the message sent again.
	_, err = b.pool.Exec(t.Context(), `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT s.machine, s.key, s.version, s.event, s.topic, s.payload, s.at FROM fsm_outbox_sent AS s`)
	require.NoError(t, err)
	_, err = b.service.Relay().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0 1", b.outbox())
}

// Wherever relay or consumer break off, the next round has one mail.
func TestMailIsBookedOnceOverCrashes(t *testing.T) {
	t.Parallel()
	for _, at := range []fault.Point{consume.Claimed, consume.Handled, consume.Committed, relay.Sent, relay.Marked} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.paid(orderA, "p-1")
			r := b.service.Relay()
			r.Backoff = func(int) time.Duration { return time.Nanosecond }
			ctx := fault.With(t.Context(), at, fault.Nth(1, fault.Fail))
			for range 3 {
				_, _ = r.Once(ctx) // its error is the fault's
			}
			require.Equal(t, "0 1", b.outbox())
			require.Equal(t, "1", b.value("SELECT count(*) FROM fsm_consumed WHERE state = 'done'"))
		})
	}
}

// A mail that can never be booked is given up, and the messages behind it go on.
func TestMailThatCannotBeBookedIsADeadLetter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE shop_mails ADD CHECK (false)")
	require.NoError(t, err)
	r := b.service.Relay()
	r.Backoff = func(int) time.Duration { return time.Nanosecond }
	for range 6 {
		_, err := r.Once(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, "0 0", b.outbox())
	require.Equal(t, "mails order_paid 5", b.value("SELECT concat_ws(' ', consumer, topic, tries) FROM fsm_dead_letters"))
}

func TestServeRelays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, orderA, b.notified("shop_mails", "order_id"))
}

// notified serves until a row is written to the table, and returns a column of it.
func (b *bench) notified(table, column string) string {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), `
		CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('written', NEW.`+column+`::text); RETURN NULL; END $$;
		CREATE TRIGGER written AFTER INSERT ON `+table+` FOR EACH ROW EXECUTE FUNCTION written()`)
	require.NoError(b.t, err)
	var told string
	require.NoError(b.t, b.pool.AcquireFunc(b.t.Context(), func(conn *pgxpool.Conn) error {
		_, err := conn.Exec(b.t.Context(), "LISTEN written")
		require.NoError(b.t, err)
		l, err := new(net.ListenConfig).Listen(b.t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(b.t, err)
		ctx, stop := context.WithCancel(b.t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- b.service.Serve(ctx, l, time.Minute) }()
		waiting, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		notice, err := conn.Conn().WaitForNotification(waiting)
		require.NoError(b.t, err)
		told = notice.Payload
		stop()
		return <-ended
	}))
	return told
}
