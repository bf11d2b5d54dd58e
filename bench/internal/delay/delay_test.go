package delay_test

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/delay"
)

// echo is a server that says what it hears.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

func open(t *testing.T, roundTrip time.Duration) (*delay.Proxy, *net.TCPConn) {
	t.Helper()
	proxy, err := delay.New(echo(t), roundTrip)
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	conn, err := net.Dial("tcp", proxy.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return proxy, conn.(*net.TCPConn)
}

func TestARoundTripTakesAtLeastAsLong(t *testing.T) {
	t.Parallel()
	_, conn := open(t, 40*time.Millisecond)
	started := time.Now()
	_, err := conn.Write([]byte("hello"))
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
	require.GreaterOrEqual(t, time.Since(started), 40*time.Millisecond)
}

// Were each piece to wait for the one before it, a megabyte would take minutes:
// more than the deadline lets it.
func TestItDoesNotThrottle(t *testing.T) {
	t.Parallel()
	_, conn := open(t, 2*time.Second)
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		for piece := range bytes.Lines(bytes.ReplaceAll(want, []byte("f"), []byte("\n"))) {
			_, _ = conn.Write(bytes.ReplaceAll(piece, []byte("\n"), []byte("f")))
		}
		_ = conn.CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%d bytes went, %d came", len(want), len(got))
}

func TestCloseCutsConnections(t *testing.T) {
	t.Parallel()
	proxy, conn := open(t, 0)
	require.NoError(t, proxy.Close())
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = net.Dial("tcp", proxy.Addr())
	require.Error(t, err)
}

func TestNoServerIsAClosedConnection(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := listener.Addr().String()
	require.NoError(t, listener.Close())
	proxy, err := delay.New(nobody, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, proxy.Close()) }()
	conn, err := net.Dial("tcp", proxy.Addr())
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
}
