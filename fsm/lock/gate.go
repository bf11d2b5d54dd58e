package lock

import (
	"context"
	"sync"
)

// Gate lets one caller of this process through for each name, so that the others
// wait here and not with a connection, or by asking a server again and again. It
// is for those who write a Locker. The zero value is open; it is safe for
// concurrent use.
type Gate struct {
	mu    sync.Mutex
	names map[string]*place
}

// place is where the callers of one name wait. It is there while somebody is.
type place struct {
	free  chan struct{} // holds one element while nobody is through
	users int
}

// Enter waits until nobody else of this process is through for the name, and
// returns how to leave, to be called once. The error is the cause of ctx's end.
func (g *Gate) Enter(ctx context.Context, name string) (leave func(), err error) {
	p := g.visit(name)
	if ctx.Err() == nil {
		select {
		case <-p.free:
			return func() {
				p.free <- struct{}{}
				g.quit(name, p)
			}, nil
		case <-ctx.Done():
		}
	}
	g.quit(name, p)
	return nil, context.Cause(ctx)
}

func (g *Gate) visit(name string) *place {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names == nil {
		g.names = map[string]*place{}
	}
	p := g.names[name]
	if p == nil {
		p = &place{free: make(chan struct{}, 1)}
		p.free <- struct{}{}
		g.names[name] = p
	}
	p.users++
	return p
}

func (g *Gate) quit(name string, p *place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(g.names, name)
	}
}
