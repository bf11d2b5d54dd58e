package acceptance

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// wire is a connection that can be cut at one message.
type wire struct {
	net.Conn
	armed atomic.Pointer[cut]
	lost  atomic.Bool
}

// cut says at which message of the client, and on which side of the server.
type cut struct {
	at      string // a part of the message; empty for the next one
	arrives bool   // the server gets it, and the client never learns what came of it
}

func (w *wire) Write(b []byte) (int, error) {
	c := w.armed.Load()
	if c == nil || !bytes.Contains(b, []byte(c.at)) {
		return w.Conn.Write(b)
	}
	if !c.arrives {
		_ = w.Conn.Close()
		return len(b), nil // as the kernel would say
	}
	w.lost.Store(true)
	return w.Conn.Write(b)
}

// Read waits for the server's reply, so that its work is done, and drops it.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if w.lost.Load() {
		_ = w.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// wired is a session over a wire. Its statements are prepared already, so that a
// call is one message.
func (s *shop) wired(warm act) (*pgx.Conn, *wire) {
	s.t.Helper()
	config := s.pool.Config().ConnConfig
	config.TLSConfig, config.Fallbacks = nil, nil // the messages must be legible
	var w *wire
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		w = &wire{Conn: conn}
		return w, err
	}
	conn, err := pgx.ConnectConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = warm(s.t.Context(), conn)
	require.NoError(s.t, err)
	return conn, w
}

// The connection breaks when it matters most. The caller is told that nobody
// knows, makes the same call again, and is told what is true.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	s := open(t)
	then := order.Then(takeStock)
	for _, tc := range []struct {
		name  string
		cut   cut
		call  func(key order.Key, no string) act
		again string
	}{
		{"the statement's reply", cut{"", true}, func(k order.Key, no string) act { return paid(k, no, due) }, "Replayed PAID 2"},
		{"the statement", cut{"", false}, func(k order.Key, no string) act { return paid(k, no, due) }, "Applied PAID 2"},
		{"an event's reply", cut{"", true}, func(k order.Key, _ string) act { return event(order.Pay, k) }, "Replayed PAYING 2"},
		{"a creation's reply", cut{"", true}, func(k order.Key, _ string) act { return created(newOrder(k[:len(k)-1] + "9")) }, "Replayed PENDING 1"},
		{"the COMMIT's reply", cut{"commit", true}, func(k order.Key, no string) act { return paid(k, no, due, then) }, "Replayed PAID 2"},
		{"the COMMIT", cut{"commit", false}, func(k order.Key, no string) act { return paid(k, no, due, then) }, "Applied PAID 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.again(key1, key2)
			conn, w := s.wired(tc.call(key2, "P2"))
			if tc.name == "a creation's reply" {
				s.exec(`DELETE FROM orders WHERE order_id NOT IN ($1, $2)`, string(key1), string(key2))
			}
			w.armed.Store(&tc.cut)
			_, err := tc.call(key1, "P1")(t.Context(), conn)
			require.ErrorIs(t, err, fsm.ErrUnknown)
			require.NotErrorIs(t, err, fsm.ErrNothingDone)
			require.False(t, fsm.Retryable(err))
			s.says(tc.again, tc.call(key1, "P1"))
			if tc.cut.at == "commit" {
				require.Equal(t, "1", s.text(`SELECT count(*)::text FROM shop_points WHERE order_id = $1`, string(key1)))
			}
		})
	}
}

// RunTx never repeats a lost COMMIT by itself.
func TestRunTxAndALostCommit(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	conn, w := s.wired(paid(key2, "P2", due))
	w.armed.Store(&cut{"commit", true})
	runs := 0
	err := fsm.RunTx(t.Context(), conn, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		runs++
		_, err := paid(key1, "P1", due)(ctx, tx)
		return err
	})
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.Equal(t, 1, runs)
	s.says("Replayed PAID 2", paid(key1, "P1", due))
}
