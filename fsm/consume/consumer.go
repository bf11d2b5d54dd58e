package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Points to fail at; see package fault. An error that is injected at one counts as
// that of the step after it.
const (
	// Claimed: the claim is committed, and the handler has not begun.
	Claimed fault.Point = "consume.claimed"
	// Handled: the handler has returned and the key is marked done, and nothing is
	// committed.
	Handled fault.Point = "consume.handled"
	// Committed: the work is committed, and the message is not acknowledged.
	Committed fault.Point = "consume.committed"
)

// DB is where a consumer keeps its claims and begins the transactions of its
// handlers: *pgxpool.Pool, *pgxpool.Conn or *pgx.Conn. A transaction is none, since
// a claim must be committed before the work begins.
type DB interface {
	fsm.DB
	fsm.TxBeginner
}

// Message is what a broker delivered.
type Message struct {
	// Topic is where it came from: a topic, subject or queue. It may be empty.
	Topic string
	// ID is the broker's or the publisher's own, for people. It may be empty.
	ID string
	// Payload and Metadata are kept in a dead letter: the payload byte for byte, in
	// the metadata what is not UTF-8 is replaced.
	Payload  []byte
	Metadata map[string]string
}

// Handler does the work of one message in tx, which is committed for it when it
// returns nil and rolled back otherwise. It must not end tx itself, and do nothing
// that it wants undone elsewhere: it is run again after a serialization failure or
// a deadlock. Its context ends with the claim's lease.
type Handler func(ctx context.Context, tx pgx.Tx, m Message) error

// Front remembers keys that are done, in front of the database: consumeredis.Front.
// It never decides that something is done, and what it does not answer is asked of
// the database; so it has no errors to return.
type Front interface {
	// Known returns those of the keys that are remembered, in any order.
	Known(ctx context.Context, consumer string, keys []string) []string
	// Remember is called after the commit, or when the database said done.
	Remember(ctx context.Context, consumer string, keys []string)
}

// Report is what [Consumer.Observe] is told of one delivery.
type Report struct {
	Consumer, Key string
	Outcome       Outcome
	// Try counts from 1, and is 0 where nothing was claimed.
	Try int
	// Front says that the database was not asked.
	Front bool
	Err   error
}

// Consumer handles messages once for each key. It keeps no state, and is safe for
// concurrent use as far as DB is; as many processes as like to share its name.
type Consumer struct {
	DB DB
	// Name keeps the keys of consumers apart. Two services that both handle the
	// same message have two names.
	Name string
	// Lease is how long a claim holds, from 1 ms: the handler's context ends with
	// it, and a process that died is taken over after it. There is no default.
	Lease time.Duration
	// Tries is how often a message may be tried before it is given up, from 1. There
	// is no default. A try that ended because the caller's context was cancelled, or
	// before the handler began, is not counted, nor is what a batch did together.
	Tries int
	// Front is nil for none.
	Front Front
	// Tx is how the handler's transaction is begun and repeated.
	Tx fsm.TxPolicy
	// Observe is told of every delivery; nil for nobody.
	Observe func(context.Context, Report)
}

// Consume handles one message, and returns what became of it: [Outcome.Ack] says
// whether it is to be acknowledged.
//
// The error is nil for Done and Duplicate, and ErrInProgress or ErrLost for
// InProgress. For Failed it says why: the handler's error, a *PanicError, an error
// of the database, ErrTables, or fsm.ErrArgument for a consumer that is not set up.
// For Dead it is ErrDead, and wraps the last error or ErrKey where this delivery
// gave the message up.
//
// A lost COMMIT is looked into, on the claim's row, so that fsm.ErrUnknown remains
// only where the database cannot be reached any more.
func (c *Consumer) Consume(ctx context.Context, key string, m Message, handle Handler) (Outcome, error) {
	r := c.ConsumeBatch(ctx, []Item{{Key: key, Message: m}}, handle)[0]
	return r.Outcome, r.Err
}

// check returns fsm.ErrArgument for a consumer that is not set up.
func (c *Consumer) check() error {
	switch {
	case c.DB == nil:
		return fmt.Errorf("%w: the consumer has no database", fsm.ErrArgument)
	case checkKey(c.Name) != nil:
		return fmt.Errorf("%w: the consumer's name is no name", fsm.ErrArgument)
	case c.Lease < time.Millisecond:
		return fmt.Errorf("%w: the consumer's lease is under 1 ms", fsm.ErrArgument)
	case c.Tries < 1:
		return fmt.Errorf("%w: the consumer's tries are under 1", fsm.ErrArgument)
	}
	return nil
}
