package inbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Points at which a test can have the inbox fail.
const (
	// PointReceived: the delivery is stored and its events are claimed; in a retry
	// or a replay, the event is claimed.
	PointReceived fault.Point = "inbox.received"
	// PointProcessed: an event was processed, or failed to be, and the outcome is
	// not recorded yet.
	PointProcessed fault.Point = "inbox.processed"
	// PointRecorded: the outcome is recorded, and the provider not yet answered.
	PointRecorded fault.Point = "inbox.recorded"
)

// DB is what the inbox begins its transactions on: *pgxpool.Pool.
type DB interface {
	fsm.DB
	fsm.TxBeginner
}

// Config says what an inbox is made of.
type Config struct {
	Pool      DB
	Providers []Provider
	// Lease is how long an event is its processor's; 0 means one minute. It is
	// longer than every provider's limit. Afterwards another may take over.
	Lease time.Duration
	// Backoff is the wait before the second try, doubled for each further one up
	// to MaxBackoff; 0 means 5 s, and 2 h.
	Backoff, MaxBackoff time.Duration
	// GiveUpAfter and MaxAttempts end the tries; 0 means 72 h, and 50.
	GiveUpAfter time.Duration
	MaxAttempts int
	// Clock is the time by which signatures are judged; nil for time.Now. Leases
	// and waits are PostgreSQL's.
	Clock func() time.Time
	// Observe is told of every verdict, for counting and logging, and must be safe
	// for concurrent use; nil for nobody.
	Observe func(Told)
	// Failed is told of the errors of the endpoints, refusals apart, and must be
	// safe for concurrent use; nil for nobody.
	Failed func(error)
}

// Inbox receives, processes and retries. It is safe for concurrent use, and many
// processes may share its tables.
type Inbox struct {
	Config
	providers map[string]*Provider
	names     []string // of the providers, in order
	refusals  refusals
}

// New returns an inbox, or ErrConfig, which says what is wrong. It does not touch
// the database.
func New(c Config) (*Inbox, error) {
	defaults(&c)
	i := &Inbox{Config: c, providers: map[string]*Provider{}}
	switch {
	case c.Pool == nil:
		return nil, fmt.Errorf("%w: no pool", ErrConfig)
	case len(c.Providers) == 0:
		return nil, fmt.Errorf("%w: no provider", ErrConfig)
	case c.Lease < 0 || c.Backoff < 0 || c.MaxBackoff < c.Backoff || c.GiveUpAfter < 0 || c.MaxAttempts < 0:
		return nil, fmt.Errorf("%w: a time or a number is negative, or the greatest wait less than the first", ErrConfig)
	}
	for _, p := range c.Providers {
		prepared, err := p.prepared()
		if err != nil {
			return nil, err
		}
		if i.providers[p.Name] != nil {
			return nil, fmt.Errorf("%w: two providers are called %q", ErrConfig, p.Name)
		}
		if p.Limit >= c.Lease {
			return nil, fmt.Errorf("%w: provider %q: the lease is not longer than its limit", ErrConfig, p.Name)
		}
		i.providers[p.Name] = prepared
		i.names = append(i.names, p.Name)
	}
	return i, nil
}

func defaults(c *Config) {
	for _, d := range []struct {
		value   *time.Duration
		usually time.Duration
	}{{&c.Lease, time.Minute}, {&c.Backoff, 5 * time.Second}, {&c.MaxBackoff, 2 * time.Hour}, {&c.GiveUpAfter, 72 * time.Hour}} {
		if *d.value == 0 {
			*d.value = d.usually
		}
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = 50
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
}

// observe tells of verdicts.
func (i *Inbox) observe(told ...Told) {
	if i.Observe == nil {
		return
	}
	for _, t := range told {
		i.Observe(t)
	}
}

// backoff is the wait after the given number of tries.
func (i *Inbox) backoff(attempts int) time.Duration {
	wait := i.Config.Backoff
	for n := 1; n < attempts && wait < i.MaxBackoff; n++ {
		wait *= 2
	}
	return min(wait, i.MaxBackoff)
}

// readCommitted is what all transactions here need: a later statement must see
// what another transaction committed meanwhile.
var readCommitted = fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted}}

func (i *Inbox) inTx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return fsm.RunTx(ctx, i.Pool, readCommitted, fn)
}

// recordTimeout bounds the third transaction, which outlives the caller's
// context: what was done has to be known.
const recordTimeout = 5 * time.Second

// detach returns a context that does not end with ctx, but at the end, or after
// recordTimeout if that is sooner or there is no end.
func detach(ctx context.Context, end time.Time) (context.Context, context.CancelFunc) {
	latest := time.Now().Add(recordTimeout)
	if end.IsZero() || latest.Before(end) {
		end = latest
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// newOwner is a name that nobody else has.
func newOwner() string { return rand.Text() }
