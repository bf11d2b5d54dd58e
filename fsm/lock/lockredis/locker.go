package lockredis

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/redisconn"
	"github.com/pawl-go/pawl/fsm/lock"
)

// PointRenew is a point to fail at: the watchdog is about to renew. lock's points
// come before it.
const PointRenew fault.Point = "lockredis.renew"

// Config says how a Locker works.
type Config struct {
	// TTL is how long a lock outlives a holder that is gone; required, from 10 ms.
	// A pause of the holder, or of Redis, that is longer loses the lock.
	TTL time.Duration
	// MaxHold is how long a lock may be held and renewed; required. The
	// function's context ends then, and the lock when the function returns, or
	// a TTL later.
	MaxHold time.Duration
	// Wait is how long a lock is waited for; 0 means 5 s.
	Wait time.Duration
	// Call bounds each call of Redis, at most half of TTL; 0 means 200 ms, or a
	// quarter of TTL if that is less.
	Call time.Duration
	// Prefix begins each key; empty means "pawl:lock:".
	Prefix string
}

// Locker is a lock.Locker in Redis. It is safe for concurrent use.
type Locker struct {
	conn   *redisconn.Conn
	db     fsm.DB
	config Config
	gate   lock.Gate

	failure atomic.Pointer[failure]
}

// New returns a locker that takes fencing values from db, a pool. It asks neither
// server. The error is fsm.ErrArgument for a duration that
// cannot be, and without a client.
func New(client rueidis.Client, db fsm.DB, c Config) (*Locker, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: a locker without a client", fsm.ErrArgument)
	}
	return by(redisconn.Of(client), db, c)
}

func by(conn *redisconn.Conn, db fsm.DB, c Config) (*Locker, error) {
	switch {
	case c.TTL < 10*time.Millisecond:
		return nil, fmt.Errorf("%w: the TTL of a lock is under 10 ms", fsm.ErrArgument)
	case c.MaxHold <= 0:
		return nil, fmt.Errorf("%w: the longest hold of a lock is not positive", fsm.ErrArgument)
	case c.Wait < 0 || c.Call < 0:
		return nil, fmt.Errorf("%w: a duration of a locker is negative", fsm.ErrArgument)
	case c.Call > c.TTL/2:
		return nil, fmt.Errorf("%w: the bound of a call is over half the TTL of a lock", fsm.ErrArgument)
	}
	if c.Wait == 0 {
		c.Wait = 5 * time.Second
	}
	if c.Call == 0 {
		c.Call = min(200*time.Millisecond, c.TTL/4)
	}
	if c.Prefix == "" {
		c.Prefix = "pawl:lock:"
	}
	return &Locker{conn: conn, db: db, config: c}, nil
}

// Open is New for a program that has to start while Redis is away: the locker
// connects when it is first asked, and again after Redis was away. A call waits for
// that as for Redis itself, and is lock.ErrUnavailable meanwhile, so that a
// lock.Fallback has others give the lock. The option's cache is switched off; its
// Dialer.Timeout bounds one attempt. Close ends the connection.
func Open(option rueidis.ClientOption, db fsm.DB, c Config) (*Locker, error) {
	return by(redisconn.To(option), db, c)
}

// Close closes the connection of a locker of Open, and locks that are held then are
// lost. That of New has its client from its user, who closes it.
func (l *Locker) Close() { l.conn.Close() }

// With is lock.Locker's.
func (l *Locker) With(ctx context.Context, name string, fn func(ctx context.Context, held lock.Held) error) error {
	if err := lock.CheckName(name); err != nil {
		return err
	}
	began := time.Now()
	waiting, cancel := context.WithTimeoutCause(ctx, l.config.Wait, lock.ErrNotAcquired)
	defer cancel()
	leave, err := l.gate.Enter(waiting, name)
	if err != nil {
		return err
	}
	defer leave()
	if err := l.failedSince(began); err != nil {
		return err
	}
	h, err := l.acquire(ctx, waiting, name)
	if err != nil {
		return err
	}
	fence, err := h.fence(ctx)
	if err != nil {
		_ = h.release(ctx)
		return err
	}
	return h.run(ctx, lock.NewHeld(name, fence), fn)
}

// Left returns how long the lock of a name is held still, if nobody renews it, and
// 0 when it is free. The error is lock.ErrUnavailable or ctx's.
func (l *Locker) Left(ctx context.Context, name string) (time.Duration, error) {
	n, err := l.call(ctx, leftScript, l.config.Prefix+name)
	return time.Duration(max(n, 0)) * time.Millisecond, err
}

// Break frees the lock of a name, whoever holds it, and reports whether somebody
// did. It is for a person who knows better: the holder learns of it at its next
// renewal, and its fencing value keeps it from writing after the next holder has.
// The error is lock.ErrUnavailable or ctx's.
func (l *Locker) Break(ctx context.Context, name string) (bool, error) {
	n, err := l.call(ctx, breakScript, l.config.Prefix+name)
	return n == 1, err
}
