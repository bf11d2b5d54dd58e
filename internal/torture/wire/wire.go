// Package wire is a road to PostgreSQL that breaks where it is told to: a TCP proxy
// that knows the borders of the protocol's messages, and so can cut a connection in
// the middle of a request or of its answer, or between a COMMIT and its answer.
package wire

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Kind is what happens to a connection.
type Kind string

// Kinds of faults.
const (
	// Request: the server gets the beginning of a message, and then no more.
	Request Kind = "request"
	// Reply: the server has done what it was asked for, and the client gets the
	// beginning of the answer, or nothing.
	Reply Kind = "reply"
	// Commit: the server has answered a COMMIT, and the client hears nothing.
	Commit Kind = "commit"
	// Half: both ends keep a connection on which nothing arrives any more.
	Half Kind = "half-open"
	// Delay: a request arrives late.
	Delay Kind = "delay"
)

// Fault is what is to happen, until it is healed.
type Fault struct {
	Kinds []Kind
	// OneIn is at which rate round trips are hit: 1 for each.
	OneIn int
	// Late is the longest Delay.
	Late time.Duration
	// Seed decides which round trips are hit, how, and after how many bytes.
	Seed uint64
}

// Proxy hands connections on to a server. It is safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener

	mutex  sync.Mutex
	links  map[*link]bool
	closed bool
	fault  *active
	work   sync.WaitGroup
}

// active is a fault in force. The proxy's mutex guards it.
type active struct {
	Fault
	rand   *rand.Rand
	hits   map[Kind]int
	healed chan struct{}
}

// New listens on a port of 127.0.0.1 and hands on to server, host:port. The caller
// closes it.
func New(server string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	p := &Proxy{server: server, listener: listener, links: map[*link]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is the host and port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Inject puts a fault in force, in the place of one that is, and returns what heals
// it and says how often each kind struck.
func (p *Proxy) Inject(f Fault) (heal func() map[Kind]int) {
	a := &active{Fault: f, rand: rand.New(rand.NewPCG(f.Seed, f.Seed)), hits: map[Kind]int{}, healed: make(chan struct{})}
	a.OneIn = max(a.OneIn, 1)
	p.mutex.Lock()
	if p.fault != nil {
		close(p.fault.healed)
	}
	p.fault = a
	p.mutex.Unlock()
	return func() map[Kind]int {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.fault == a {
			p.fault = nil
			close(a.healed)
		}
		return a.hits
	}
}

// hit is what is to happen to one round trip; its kind is empty for nothing.
type hit struct {
	kind   Kind
	bytes  int
	late   time.Duration
	reset  bool
	healed <-chan struct{}
}

// draw decides about one round trip. committing says that it is a COMMIT's, which a
// fault of that kind strikes more often.
func (p *Proxy) draw(committing bool, size int) hit {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	a := p.fault
	if a == nil || len(a.Kinds) == 0 {
		return hit{}
	}
	kind := a.Kinds[a.rand.IntN(len(a.Kinds))]
	rate := a.OneIn
	switch {
	case kind == Commit && !committing:
		return hit{}
	case kind == Commit:
		rate = max(rate/20, 1)
	case kind == Delay:
		rate = 1
	}
	if a.rand.IntN(rate) != 0 {
		return hit{}
	}
	h := hit{kind: kind, healed: a.healed, reset: a.rand.IntN(2) == 0}
	switch kind {
	case Request:
		h.bytes = a.rand.IntN(max(size, 1))
	case Reply:
		h.bytes = a.rand.IntN(80)
	case Delay:
		h.late = time.Duration(a.rand.Int64N(int64(max(a.Late, 1))))
	}
	a.hits[kind]++
	return h
}

// Close cuts all connections and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mutex.Lock()
	p.closed = true
	if p.fault != nil {
		close(p.fault.healed)
		p.fault = nil
	}
	for l := range p.links {
		l.cut(true)
	}
	p.mutex.Unlock()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// serve hands one connection on until either end is gone.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.server, 5*time.Second)
	if err != nil {
		_ = client.Close() // as if nobody listened
		return
	}
	l := &link{proxy: p, client: client, server: server}
	p.mutex.Lock()
	if p.closed {
		p.mutex.Unlock()
		l.cut(true)
		return
	}
	p.links[l] = true
	p.mutex.Unlock()
	var both sync.WaitGroup
	both.Go(l.requests)
	both.Go(l.replies)
	both.Wait()
	p.mutex.Lock()
	delete(p.links, l)
	p.mutex.Unlock()
}
