// Package delay puts a distance between a client and its server: a TCP proxy that
// hands on what it reads after a while. It delays and does not throttle: what is
// on the way does not keep what follows from setting out.
package delay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Proxy hands connections on to a server. It is safe for concurrent use.
type Proxy struct {
	server   string
	oneWay   time.Duration
	listener net.Listener

	mutex  sync.Mutex
	conns  map[net.Conn]bool
	closed bool
	work   sync.WaitGroup
}

// New listens on a port of 127.0.0.1 and hands on to server, host:port. A round
// trip takes roundTrip longer, half of it in each direction. The caller closes it.
func New(server string, roundTrip time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("delay: %w", err)
	}
	p := &Proxy{server: server, oneWay: roundTrip / 2, listener: listener, conns: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is the host and port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close cuts all connections and returns when nothing of the proxy runs any more.
// What was on the way is lost.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mutex.Lock()
	p.closed = true
	for conn := range p.conns {
		err = errors.Join(err, conn.Close())
	}
	p.conns = nil
	p.mutex.Unlock()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// keep notes a connection for Close; it reports false, and closes it, afterwards.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

// drop closes a connection. Closing it twice does no harm.
func (p *Proxy) drop(conn net.Conn) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.conns[conn] {
		delete(p.conns, conn)
		_ = conn.Close()
	}
}

func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	server, err := net.Dial("tcp", p.server)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	var both sync.WaitGroup
	both.Go(func() { p.pump(server, client) })
	both.Go(func() { p.pump(client, server) })
	both.Wait()
}

// parcel is what was read at once, and when it is to arrive; the last one of a
// direction has no bytes.
type parcel struct {
	bytes []byte
	due   time.Time
}

// enRoute is how many parcels of one connection may be on the way.
const enRoute = 1024

// pump hands on what from says to to, until from says no more.
func (p *Proxy) pump(to, from net.Conn) {
	parcels := make(chan parcel, enRoute)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(parcels)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				parcels <- parcel{append([]byte(nil), buffer[:n]...), time.Now().Add(p.oneWay)}
			}
			if err != nil {
				return
			}
		}
	})
	failed := false
	for next := range parcels {
		if failed {
			continue // the reader must come to its end
		}
		sleepUntil(next.due)
		if _, err := to.Write(next.bytes); err != nil {
			failed = true
			p.drop(from)
		}
	}
	reader.Wait()
	// The other side may still have something to say.
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// sleepUntil waits for a moment. A timer of Linux comes some 50 µs late.
func sleepUntil(due time.Time) {
	if d := time.Until(due); d > 0 {
		time.Sleep(d)
	}
}

var _ io.Closer = (*Proxy)(nil)
