package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// Command declares one command: its name, and how its records are kept. Declare
// it once and share it: it is not changed by calls, and safe for concurrent use.
type Command struct {
	// Name is part of every record's key: two commands may get equal keys.
	Name string
	// Retention is how long a record is kept at the least, from its reply, or
	// from the last claim when there is none; then [Command.Sweep] archives it
	// and the key is free. 0 means 72 hours.
	Retention time.Duration
	// MaxReply is the greatest size of a reply's body in bytes; 0 means
	// [DefaultMaxReply].
	MaxReply int
	// Headers are the reply's headers to keep and replay; nil means
	// [DefaultHeaders]. Those that [NeverKept] reports are refused. Content-Encoding
	// is kept with any list: without it the body is not to be read.
	Headers []string

	// Wait is how long Do waits for an equal request that is at work in a
	// transaction; 0 means 5 s, and less than 0 not at all. More than PostgreSQL
	// takes, 24.8 days, means that.
	Wait time.Duration
	// Tx bounds how Do repeats its transaction, work included, when the database
	// says that it may be; see [fsm.RunTx]. READ COMMITTED unless told.
	Tx fsm.TxPolicy

	// Lease is how long a claim of DoLeased is good for when nobody renews it:
	// how long after a crash the command stays in progress. DoLeased refuses
	// to work without one.
	Lease time.Duration
	// MaxLease is how long a lease is renewed for, all in all: work that hangs
	// loses it then. 0 means ten times Lease.
	MaxLease time.Duration

	// Observe is told what each call did, for counters; nil for nobody. It must
	// be quick and safe for concurrent use.
	Observe func(ctx context.Context, outcome Outcome)
}

// DefaultMaxReply is the greatest size of a reply's body, in bytes, unless its
// command says other.
const DefaultMaxReply = 64 << 10

const (
	defaultRetention = 72 * time.Hour
	defaultWait      = 5 * time.Second
	leasesPerClaim   = 10
	// maxWait is the greatest lock_timeout, 2^31 − 1 ms.
	maxWait = (1<<31 - 1) * time.Millisecond
)

// DefaultHeaders are the headers that a reply keeps unless its command says other.
func DefaultHeaders() []string {
	return []string{
		"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "ETag", "Last-Modified", "Location",
	}
}

func (c *Command) retention() time.Duration {
	if c.Retention == 0 {
		return defaultRetention
	}
	return c.Retention
}

func (c *Command) maxReply() int {
	if c.MaxReply == 0 {
		return DefaultMaxReply
	}
	return c.MaxReply
}

func (c *Command) headers() []string {
	if c.Headers == nil {
		return DefaultHeaders()
	}
	return c.Headers
}

// wait is the greatest wait for a lock, in what PostgreSQL takes: whole
// milliseconds, of which 0 would mean for ever.
func (c *Command) wait() string {
	d := c.Wait
	if d == 0 {
		d = defaultWait
	}
	return fmt.Sprintf("%dms", max(min(d, maxWait).Milliseconds(), 1))
}

func (c *Command) maxLease() time.Duration {
	if c.MaxLease == 0 {
		return leasesPerClaim * c.Lease
	}
	return c.MaxLease
}

// Check returns [fsm.ErrArgument] for a declaration that cannot work. Every call
// checks too; a program may do so at its start.
func (c *Command) Check() error {
	if err := checkText("command's name", c.Name); err != nil {
		return err
	}
	switch {
	case c.Retention < 0:
		return fmt.Errorf("%w: the retention is negative", fsm.ErrArgument)
	case c.MaxReply < 0:
		return fmt.Errorf("%w: the reply's cap is negative", fsm.ErrArgument)
	case c.Lease < 0, c.MaxLease < 0:
		return fmt.Errorf("%w: a lease is negative", fsm.ErrArgument)
	}
	for _, name := range c.headers() {
		if NeverKept(name) {
			return fmt.Errorf("%w: the header %s may not be kept", fsm.ErrArgument, http.CanonicalHeaderKey(name))
		}
	}
	return nil
}

// need refuses a call that lacks what it cannot do without.
func (c *Command) need(all bool) error {
	if all {
		return nil
	}
	return c.wrap(fsm.ErrArgument, errors.New("the database or the work is nil"))
}

// asked is a request that was checked, with its fingerprint.
type asked struct {
	*Request
	sum fingerprint
}

// ask checks everything that needs no database. A context that has ended is
// refused here: nothing may be claimed for a caller who is gone.
func (c *Command) ask(ctx context.Context, r *Request) (asked, error) {
	if err := ctx.Err(); err != nil {
		return asked{}, c.wrap(fsm.ErrNothingDone, err)
	}
	if err := c.Check(); err != nil {
		return asked{}, c.wrap(nil, err)
	}
	if err := r.check(); err != nil {
		return asked{}, c.wrap(nil, err)
	}
	sum, err := r.fingerprintBy(currentAlgorithm)
	if err != nil {
		return asked{}, c.wrap(nil, err)
	}
	return asked{r, sum}, nil
}
