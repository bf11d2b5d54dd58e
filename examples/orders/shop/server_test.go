package shop_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// closing tells that its listener is closed: a stop has begun.
type closing struct {
	net.Listener
	once   sync.Once
	closed chan struct{}
}

func (c *closing) Close() error {
	err := c.Listener.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}

// serving is a service on a port, with one request whose handler waits for the
// rest of its body.
type serving struct {
	listener *closing
	stop     context.CancelFunc
	body     *io.PipeWriter
	ended    chan error
	answer   chan int // the request's status, 0 when it was cut off
}

func serve(t *testing.T, grace time.Duration) *serving {
	t.Helper()
	service, err := shop.New(shop.Config{
		Pool: testdb.New(t, testdb.WithMigrations(migrations.FS)),
		Log:  slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)),
	})
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &serving{
		listener: &closing{Listener: l, closed: make(chan struct{})},
		ended:    make(chan error, 1), answer: make(chan int, 1),
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.ended <- service.Serve(ctx, s.listener, grace) }()

	// The server says "100 Continue" when a handler begins to read the body.
	reading := make(chan struct{})
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	body, writer := io.Pipe()
	s.body = writer
	r, err := http.NewRequestWithContext(traced, "POST", "http://"+l.Addr().String()+"/orders", body)
	require.NoError(t, err)
	r.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}
	go func() {
		response, err := transport.RoundTrip(r)
		if err != nil {
			s.answer <- 0
			return
		}
		_ = response.Body.Close()
		s.answer <- response.StatusCode
	}()
	<-reading
	return s
}

func TestServeLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	s := serve(t, time.Minute)
	s.stop()
	<-s.listener.closed
	// Nobody dials to see it: the port may be another server's by now.
	_, err := s.listener.Accept()
	require.ErrorIs(t, err, net.ErrClosed, "no more connections are taken")
	_, err = io.WriteString(s.body, createBody(orderA))
	require.NoError(t, err)
	require.NoError(t, s.body.Close())
	require.Equal(t, http.StatusCreated, <-s.answer)
	require.NoError(t, <-s.ended)
}

func TestServeCutsOffWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := serve(t, time.Nanosecond)
	s.stop()
	require.ErrorIs(t, <-s.ended, context.DeadlineExceeded)
	require.NoError(t, s.body.Close())
	require.NotEqual(t, http.StatusCreated, <-s.answer)
}

func TestServeTellsThatItsListenerFailed(t *testing.T) {
	t.Parallel()
	service, err := shop.New(shop.Config{Pool: testdb.New(t, testdb.WithMigrations(migrations.FS))})
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.ErrorIs(t, service.Serve(t.Context(), l, time.Minute), net.ErrClosed)
}
