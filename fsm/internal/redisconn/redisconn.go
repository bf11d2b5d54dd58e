// Package redisconn connects to Redis when it is first asked, and not before: what
// stands in front of PostgreSQL must not keep a service from starting while Redis is
// away.
package redisconn

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/rueidis"
)

// ErrClosed: the connection was closed.
var ErrClosed = errors.New("connection to Redis is closed")

// Conn is a connection that is made when somebody needs it. Once it was made, its
// client connects again by itself. It is safe for concurrent use.
type Conn struct {
	// A function, of which fmt prints an address, whoever is printed that has the
	// connection: the option has the password.
	option func() rueidis.ClientOption
	lent   bool // the client is its user's

	mu      sync.Mutex
	client  rueidis.Client
	dialing chan struct{} // closed when the attempt to connect has ended
	err     error         // of the last attempt
	closed  bool
}

// To returns a connection that is not made yet. The option's cache is switched off.
func To(option rueidis.ClientOption) *Conn {
	option.DisableCache = true
	return &Conn{option: func() rueidis.ClientOption { return option }}
}

// Of returns the connection of a client that is there. It stays its user's, and Close
// does nothing to it.
func Of(client rueidis.Client) *Conn { return &Conn{client: client, lent: true} }

// Client returns the client, or what became of the attempt to connect, of which there
// is one at a time. The error is ctx's when that ends first; the attempt goes on
// then, for who comes next. After Close it is ErrClosed.
func (c *Conn) Client(ctx context.Context) (rueidis.Client, error) {
	c.mu.Lock()
	if c.closed || c.client != nil {
		defer c.mu.Unlock()
		return c.made()
	}
	if c.dialing == nil {
		c.dialing = make(chan struct{})
		go c.dial(c.dialing)
	}
	done := c.dialing
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made()
}

// made is what there is. The caller has the mutex.
func (c *Conn) made() (rueidis.Client, error) {
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.client == nil:
		return nil, c.err
	}
	return c.client, nil
}

// dial connects, and tells those who wait.
func (c *Conn) dial(done chan struct{}) {
	client, err := rueidis.NewClient(c.option())
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(done)
	c.dialing = nil
	switch {
	case err != nil:
		c.err = err
	case c.closed:
		client.Close()
	default:
		c.client = client
	}
}

// Close closes the connection, if there is one, and has none be made any more.
func (c *Conn) Close() {
	if c.lent {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
}
