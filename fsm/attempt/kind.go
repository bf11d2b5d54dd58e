package attempt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kind is one sort of provider call: how to make it, how to look it up, and what
// to do when the answer is there. It must not be changed once it is in use, and
// its functions must be safe for concurrent use.
type Kind struct {
	// Name tells kinds apart in the tables; it must never change.
	Name string
	// Steps run before anything is sent, in order, each in a transaction of its
	// own and each once; none for most.
	Steps []Step
	// Call sends the attempt to the provider, with a.ID as the key and a.Request
	// as the content, and nothing that another send could have differently. It
	// returns nil when the provider did it; otherwise an error says what is
	// known: ErrRefused, ErrPending, ErrNotSent, or anything for "not known".
	// Its errors are kept in the row, so they must hold no secrets. Its context
	// ends after Policy.CallTimeout.
	Call func(ctx context.Context, a Attempt) (Result, error)
	// Query looks the attempt up at the provider by a.ID. It returns nil when the
	// provider did it; otherwise ErrRefused, ErrPending, ErrNotThere, or
	// anything for "not known". ErrNotThere must not be said of an answer that
	// may be late, such as a list that is brought up to date now and then.
	Query func(ctx context.Context, a Attempt) (Result, error)
	// RepeatIsQuery says that the provider has no look-up, and answers a call
	// with a known key as it answered the first: then Call is made again
	// instead of Query, which must be nil.
	RepeatIsQuery bool
	// Complete makes the business change that goes with a.State, Succeeded or
	// Refused, in the transaction that completes the attempt. It must do nothing
	// outside tx, and may start another attempt in it. Its error rolls both back,
	// and Complete alone is tried again later.
	Complete func(ctx context.Context, tx pgx.Tx, a Attempt) error
	// Notify is told of what happens, after it was committed; nil for nobody. It
	// is for counting and logging.
	Notify func(Notice)
	Policy Policy
}

// Step is work that is done once before the call, in the database.
type Step struct {
	// Name is the recovery point that is reached by the step. The names that an
	// attempt has passed must stay, in this order.
	Name string
	// Do does the work in tx, and nothing outside of it. What it returns is kept
	// as JSON, for Attempt.Step; nil for nothing. An error rolls the step back
	// and ends the round; ErrRefused ends the attempt, with nothing sent.
	Do func(ctx context.Context, tx pgx.Tx, a Attempt) (any, error)
}

// Policy bounds an attempt in time. The zero value is usable.
type Policy struct {
	// CallTimeout bounds one Call or Query; 0 means 30 s.
	CallTimeout time.Duration
	// Lease is how long an owner may take for one Call, step or Complete before
	// others may take over; 0 means twice CallTimeout. It must be longer than
	// CallTimeout.
	Lease time.Duration
	// Base is the greatest wait after the first round that ended nothing; it
	// doubles with each further one up to Max. 0 means 5 s, and 1 h. The wait is
	// drawn from the upper half.
	Base, Max time.Duration
	// MaxRounds is how many rounds may end nothing before the attempt is left to
	// a person; 0 means 50, two days with the other defaults.
	MaxRounds int
	// ResendFor is how long after the first send the call may be sent again: not
	// longer than the provider remembers keys. Later, an attempt that is not
	// there is left to a person. 0 means 23 h.
	ResendFor time.Duration
	// Keep is how long a completed attempt stays before it is archived; 0 means
	// 30 days.
	Keep time.Duration
}

const (
	maxName  = 100
	maxSteps = 100
)

// filled returns the policy with its defaults put in.
func (p Policy) filled() Policy {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	or(&p.CallTimeout, 30*time.Second)
	or(&p.Lease, 2*p.CallTimeout)
	or(&p.Base, 5*time.Second)
	or(&p.Max, time.Hour)
	or(&p.ResendFor, 23*time.Hour)
	or(&p.Keep, 30*24*time.Hour)
	if p.MaxRounds == 0 {
		p.MaxRounds = 50
	}
	return p
}

// wait draws the time to the next round after the nth: from the upper half of
// min(Max, Base·2^(n−1)), so that many that failed at once come back apart.
func (p Policy) wait(n int) time.Duration {
	d := min(p.Base, p.Max)
	for range n - 1 {
		if d > p.Max/2 {
			d = p.Max
			break
		}
		d *= 2
	}
	return d/2 + rand.N(d/2+1)
}

// check returns ErrArgument for a kind that cannot work.
func (k *Kind) check() error {
	if k == nil {
		return fmt.Errorf("%w: no kind", ErrArgument)
	}
	if err := textOK("the kind's name", k.Name, maxName); err != nil {
		return err
	}
	p := k.Policy.filled()
	problem := ""
	switch {
	case k.Call == nil || k.Complete == nil:
		problem = "it has no Call or no Complete"
	case (k.Query == nil) != k.RepeatIsQuery:
		problem = "it needs either Query or RepeatIsQuery"
	case min(p.CallTimeout, p.Lease, p.Base, p.Max, p.ResendFor, p.Keep) < 0 || p.MaxRounds < 0:
		problem = "a bound of its policy is negative"
	case p.Lease <= p.CallTimeout:
		problem = "its lease is not longer than one call may take"
	case len(k.Steps) > maxSteps:
		problem = "it has too many steps"
	}
	if problem != "" {
		return fmt.Errorf("%w: kind %s: %s", ErrArgument, k.Name, problem)
	}
	return k.checkSteps()
}

func (k *Kind) checkSteps() error {
	seen := map[string]bool{}
	for _, s := range k.Steps {
		if err := textOK("a step's name", s.Name, maxName); err != nil {
			return err
		}
		if s.Do == nil || seen[s.Name] {
			return fmt.Errorf("%w: kind %s: step %s does nothing, or is there twice", ErrArgument, k.Name, s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// MaxRound is the longest that one round may take: every step, a look-up, a call
// and the completion, each within its bound, and a moment to write it down. A
// scheduler that gives up on jobs must give a round at least that. 0 for a kind
// that cannot work.
func (k *Kind) MaxRound() time.Duration {
	if k.check() != nil {
		return 0
	}
	p := k.Policy.filled()
	return time.Duration(len(k.Steps)+1)*p.Lease + 2*p.CallTimeout + 4*endTimeout
}
