package lockredis_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

// network is a way to a server that can be cut: nothing gets through any more, and
// no connection is closed.
type network struct {
	addr string
	mu   sync.Mutex
	cut  bool
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	n := &network{addr: listener.Addr().String()}
	go func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = here.Close()
				continue
			}
			t.Cleanup(func() { _, _ = here.Close(), there.Close() })
			go n.pump(there, here)
			go n.pump(here, there)
		}
	}()
	return n
}

func (n *network) pump(to io.Writer, from io.Reader) {
	buffer := make([]byte, 4096)
	for {
		size, err := from.Read(buffer)
		n.mu.Lock()
		cut := n.cut
		n.mu.Unlock()
		if err != nil {
			return
		}
		if cut {
			continue
		}
		if _, err := to.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func (n *network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
}

// A holder whose network is cut loses its key to the TTL, and others may have the
// lock from then on. rueidislock keeps the holder's context for half a validity
// longer; ours has ended by then. This is why the package does not use it.
func TestHolderIsToldWhenTheKeyIsGone(t *testing.T) {
	t.Parallel()
	const ttl = 4 * time.Second
	exists := func(s *stage, key string) bool {
		n, err := s.client.Do(t.Context(), s.client.B().Exists().Key(key).Build()).AsInt64()
		require.NoError(t, err)
		return n == 1
	}
	gone := func(s *stage, key string) {
		require.Eventually(t, func() bool { return !exists(s, key) }, 20*time.Second, 2*time.Millisecond)
	}
	t.Run("rueidislock", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		way := newNetwork(t, s.redis.Addr)
		l, err := rueidislock.NewLocker(rueidislock.LockerOption{
			ClientOption: rueidis.ClientOption{InitAddress: []string{way.addr}, DisableCache: true},
			KeyValidity:  ttl, KeyMajority: 1, TryNextAfter: ttl / 4, KeyPrefix: "theirs",
		})
		require.NoError(t, err)
		t.Cleanup(l.Close)
		ctx, cancel, err := l.WithContext(t.Context(), name)
		require.NoError(t, err)
		defer cancel()
		way.Cut()
		gone(s, "theirs:0:"+name)
		require.NoError(t, ctx.Err(), "it still says that it holds the lock")
	})
	t.Run("lockredis", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		way := newNetwork(t, s.redis.Addr)
		l, err := lockredis.New(s.connect(way.addr), s.pool, lockredis.Config{TTL: ttl, MaxHold: time.Hour})
		require.NoError(t, err)
		err = l.With(t.Context(), name, func(ctx context.Context, _ lock.Held) error {
			require.True(t, exists(s, key))
			way.Cut()
			gone(s, key)
			select { // the moment that it takes to run the timer
			case <-ctx.Done():
			case <-time.After(ttl / 4):
				t.Error("the holder does not know")
			}
			return nil
		})
		require.ErrorIs(t, err, lock.ErrLost)
	})
}
