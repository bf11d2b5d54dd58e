package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/sleep"
)

// Points at which a test can have a relay fail; see package fault.
const (
	// Sent is passed after a message was accepted, before the database knows.
	Sent fault.Point = "relay.sent"
	// Marked is passed after the messages of a round were marked, and that committed.
	Marked fault.Point = "relay.marked"
)

// Relay delivers what is in the outbox. DB and Publisher must be set, and no
// field may change while a method runs. Any number of relays may work at one
// database, in one process or in many.
type Relay struct {
	// DB is a pool of at least two connections, or three with Listen by a pool.
	DB        fsm.TxBeginner
	Publisher Publisher

	// Batch is how many rows one transaction takes; 0 means 100.
	Batch int
	// Parallel is how many keys are sent at once; 0 means 8.
	Parallel int
	// Timeout bounds one try; 0 means 5 s. A round lasts at most twice as long,
	// and the server ends a session that is silent for four times as long.
	Timeout time.Duration
	// Every is the longest pause when there is nothing to do; 0 means 1 s. Pauses
	// begin at a hundredth of it and double, less a random part of up to a half.
	Every time.Duration
	// Tries is after how many tries of a message its key is parked; 0 means never.
	Tries int
	// Backoff is the pause after the nth try of a message, from 1. nil means 1 s,
	// doubled each time, up to 5 min, less a random part of up to a half.
	Backoff func(tries int) time.Duration
	// Discard has delivered rows deleted, instead of kept in fsm_outbox_sent.
	Discard bool

	// Listen opens a connection that is told of new rows by NOTIFY, where the
	// trigger fsm_outbox_notify is enabled; nil for polling alone.
	Listen func(ctx context.Context) (*pgx.Conn, error)

	// Delivered is told of the messages of a round after its COMMIT, in the order
	// of their ids; Failed of a message that was not taken, as a *PublishError,
	// and of every error that Run goes on after. Both may be called by two
	// goroutines at once; nil for nobody.
	Delivered func([]Message)
	Failed    func(error)
	// Wait waits between rounds until d is over or wake says something, and
	// returns an error when ctx ends; nil means a timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration, wake <-chan struct{}) error

	once  sync.Once
	fresh *lane // rows that wait
	held  *lane // keys whose hold is due
}

// lane is one of the two kinds of work, each with a transaction of its own: a
// held key that takes its whole time must not keep fresh rows waiting.
type lane struct {
	take func(ctx context.Context, tx pgx.Tx) (batch, error)
	wake chan struct{}
}

func (r *Relay) init() {
	r.once.Do(func() {
		r.fresh = &lane{r.takeFresh, make(chan struct{}, 1)}
		r.held = &lane{r.takeDue, make(chan struct{}, 1)}
	})
}

// check refuses what would fail later, or panic.
func (r *Relay) check() error {
	switch {
	case r.DB == nil:
		return fmt.Errorf("%w: DB is nil", ErrArgument)
	case r.Publisher == nil:
		return fmt.Errorf("%w: Publisher is nil", ErrArgument)
	case r.Batch < 0 || r.Batch > maxBatch:
		return fmt.Errorf("%w: Batch is not from 0 to %d", ErrArgument, maxBatch)
	case r.Parallel < 0, r.Timeout < 0, r.Every < 0, r.Tries < 0:
		return fmt.Errorf("%w: a field is negative", ErrArgument)
	case r.Timeout > 0 && r.Timeout < minTimeout, r.Timeout > maxTimeout:
		return fmt.Errorf("%w: Timeout is not from %s to %s", ErrArgument, minTimeout, maxTimeout)
	}
	return nil
}

const (
	maxBatch   = 10_000
	minTimeout = time.Millisecond // the unit of the server's
	maxTimeout = time.Hour
)

func (r *Relay) batch() int             { return orElse(r.Batch, 100) }
func (r *Relay) parallel() int          { return orElse(r.Parallel, 8) }
func (r *Relay) timeout() time.Duration { return orElse(r.Timeout, 5*time.Second) }
func (r *Relay) every() time.Duration   { return orElse(r.Every, time.Second) }

func orElse[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// Wake has Run look for rows at once. A program that commits a call in the same
// process may call it then. It never waits, and is safe for concurrent use.
func (r *Relay) Wake() {
	r.init()
	select {
	case r.fresh.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Once makes one round: a batch of the oldest rows that are free, and one of the
// keys whose hold is due. It returns how many messages were delivered, 0 and nil
// when there is nothing to do. A message that is not taken is no error of Once:
// its key is held up, and Failed is told.
//
// Errors are ErrArgument, ErrTables, fsm.ErrNothingDone and fsm.ErrUnknown,
// those of the two batches joined. Whatever the error, what was not marked is sent
// again. When ctx ends, no further message is sent, and what was sent is marked.
func (r *Relay) Once(ctx context.Context) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	r.init()
	fresh, _, err := r.round(ctx, r.fresh)
	held, _, heldErr := r.round(ctx, r.held)
	return fresh + held, errors.Join(err, heldErr)
}

// Run delivers until ctx ends, and returns ctx's error, or that of Wait, after
// what was sent is marked. Other errors are told to Failed, and Run goes on after
// a pause, except for ErrArgument, which it returns. One Run at a time a Relay.
func (r *Relay) Run(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	r.init()
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for _, l := range []*lane{r.fresh, r.held} {
		wg.Go(func() { stop(r.loop(inner, l)) })
	}
	if r.Listen != nil {
		wg.Go(func() { r.listen(inner) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(inner)
}

// loop makes rounds of one lane until ctx ends or Wait fails.
func (r *Relay) loop(ctx context.Context, l *lane) error {
	wait := r.Wait
	if wait == nil {
		wait = sleep.Until
	}
	idle := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		sent, more, err := r.round(ctx, l)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.failed(err)
			idle = len(pauses) - 1 // a database in trouble is not asked sooner
		case more && sent > 0:
			idle = 0
			continue
		case sent > 0:
			idle = 0
		}
		if err := wait(ctx, pause(r.every(), idle), l.wake); err != nil {
			return err
		}
		idle++
	}
}

func (r *Relay) failed(err error) {
	if r.Failed != nil {
		r.Failed(err)
	}
}
