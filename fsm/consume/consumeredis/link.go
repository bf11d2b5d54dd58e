package consumeredis

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// errClosed: the front was closed.
var errClosed = errors.New("front is closed")

// link is the connection to Redis with its one rule: after a failure no call is made
// for the pause; then one call is made, and the others go without until it has been
// answered.
type link struct {
	option rueidis.ClientOption
	pause  time.Duration
	now    func() time.Time

	mu      sync.Mutex
	down    bool
	trying  bool      // one call finds out whether Redis is back
	until   time.Time // the end of the pause
	conn    rueidis.Client
	dialing chan struct{} // closed when the attempt to connect has ended
	dialErr error
	closed  bool
}

// enter reports whether a call is to be made. It is ended by answered, failed or left.
func (l *link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false
	case !l.down:
		return true
	case l.trying || l.now().Before(l.until):
		return false
	}
	l.trying = true
	return true
}

func (l *link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.trying = false, false
}

func (l *link) failed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.trying, l.until = true, false, l.now().Add(l.pause)
}

// left ends a call of which nobody knows how it would have ended.
func (l *link) left() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trying = false
}

// client returns the connection, or what became of the attempt to make it, which
// goes on after ctx ends.
func (l *link) client(ctx context.Context) (rueidis.Client, error) {
	l.mu.Lock()
	if l.conn != nil || l.closed {
		defer l.mu.Unlock()
		if l.closed {
			return nil, errClosed
		}
		return l.conn, nil
	}
	if l.dialing == nil {
		l.dialing = make(chan struct{})
		go l.dial(l.dialing)
	}
	done := l.dialing
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil, l.dialErr
	}
	return l.conn, nil
}

// dial connects, and tells those who wait.
func (l *link) dial(done chan struct{}) {
	conn, err := rueidis.NewClient(l.option)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(done)
	l.dialing = nil
	switch {
	case err != nil:
		l.dialErr = err
	case l.closed:
		l.dialErr = errClosed
		conn.Close()
	default:
		l.conn = conn
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// wrongType reports whether somebody keeps a list or the like under our name.
func wrongType(err *rueidis.RedisError) bool { return strings.HasPrefix(err.Error(), "WRONGTYPE") }
