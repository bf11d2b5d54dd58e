package consumeredis

import (
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/internal/redisconn"
)

// link is the connection to Redis with its one rule: after a failure no call is made
// for the pause; then one call is made, and the others go without until it has been
// answered.
type link struct {
	conn  *redisconn.Conn
	pause time.Duration
	now   func() time.Time

	mu     sync.Mutex
	down   bool
	trying bool      // one call finds out whether Redis is back
	until  time.Time // the end of the pause
	closed bool
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

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.conn.Close()
}

// wrongType reports whether somebody keeps a list or the like under our name.
func wrongType(err *rueidis.RedisError) bool { return strings.HasPrefix(err.Error(), "WRONGTYPE") }
