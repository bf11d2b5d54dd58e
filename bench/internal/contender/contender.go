// Package contender has the ways to move an order that the benchmark compares: the
// code that a competent person writes with each, against the same tables under the
// same triggers.
package contender

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Event is what is told of an order.
type Event string

const (
	// Paid is payment_succeeded: row, fact, history and outbox.
	Paid Event = "payment_succeeded"
	// Pay is pay, an event without facts: row and history.
	Pay Event = "pay"
)

// Delivery is one telling of an event. Key, PaymentNo and Cents are those of order
// number N.
type Delivery struct {
	N         int
	Key       string
	PaymentNo string
	Cents     int64
}

// Caller hands deliveries over, as many as the contender's Size at most, and says
// how many of them moved an order. Callers are called by many goroutines at once.
type Caller func(ctx context.Context, deliveries []Delivery) (moved int, err error)

// Env is where a contender works.
type Env struct {
	// URL is the database's, perhaps at a distance.
	URL string
	// Conns is how many connections the contender may open.
	Conns int
	// Callers is how many will call at once.
	Callers int
	Event   Event
}

// Opened is a contender at work. Close comes after the last call.
type Opened struct {
	Call  Caller
	Close func()
}

// Contender is one way to move orders.
type Contender struct {
	Name string
	// Writes says what of a transition it writes.
	Writes string
	// Ours says that it is Pawl's, so that its invariants are checked.
	Ours bool
	// Once says that it moves an order once, however often it is told.
	Once bool
	// Size is how many deliveries one call takes.
	Size int
	Open func(ctx context.Context, env Env) (Opened, error)
}

const (
	rowOnly    = "row"
	everything = "row, history, fact, outbox"
)

// open opens a pool of env's connections.
func open(ctx context.Context, env Env) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(env.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(env.Conns)
	return pgxpool.NewWithConfig(ctx, config)
}

// shut closes a pool, and waits no longer than a while for connections that somebody
// else's code keeps.
func shut(pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
	}
}

// onPool is the Open of a contender that needs a pool and no more.
func onPool(caller func(pool *pgxpool.Pool, event Event) (Caller, error)) func(context.Context, Env) (Opened, error) {
	return func(ctx context.Context, env Env) (Opened, error) {
		pool, err := open(ctx, env)
		if err != nil {
			return Opened{}, err
		}
		call, err := caller(pool, env.Event)
		if err != nil {
			pool.Close()
			return Opened{}, err
		}
		return Opened{call, pool.Close}, nil
	}
}

// each makes a caller of what takes one delivery.
func each(one func(ctx context.Context, d Delivery) (moved bool, err error)) Caller {
	return func(ctx context.Context, deliveries []Delivery) (int, error) {
		sum := 0
		for _, d := range deliveries {
			moved, err := one(ctx, d)
			if err != nil {
				return sum, fmt.Errorf("order %d: %w", d.N, err)
			}
			if moved {
				sum++
			}
		}
		return sum, nil
	}
}

// notOf refuses an event.
func notOf(name string, event Event) error {
	return fmt.Errorf("%s does not tell of %s", name, event)
}
