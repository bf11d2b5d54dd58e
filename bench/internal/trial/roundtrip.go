// Package trial measures what is no race between contenders: what a duplicate
// writes, a batch against psql, a sweep, the heap, and the size of tables.
package trial

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// counted counts the round trips of a connection: how often it was written to
// after it was read from.
type counted struct {
	net.Conn
	mutex sync.Mutex
	read  bool
	trips int64
}

// Read notes that an answer came.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.mutex.Lock()
		c.read = true
		c.mutex.Unlock()
	}
	return n, err
}

// Write counts a round trip when something was read since the last write.
func (c *counted) Write(b []byte) (int, error) {
	c.mutex.Lock()
	if c.read {
		c.trips++
		c.read = false
	}
	c.mutex.Unlock()
	return c.Conn.Write(b)
}

// Trips is how many there were.
func (c *counted) Trips() int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.trips
}

// counting is a pool of one connection, and the connection.
func counting(ctx context.Context, url string) (*pgxpool.Pool, *counted, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, err
	}
	config.MaxConns = 1
	// With TLS the counter would sit below the handshake, which is counted off
	// before the first call.
	conn := &counted{}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		inner, err := (&net.Dialer{}).DialContext(ctx, network, address)
		conn.Conn = inner
		return conn, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return pool, conn, nil
}
