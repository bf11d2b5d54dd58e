package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// FallbackLocker takes the locks of a second locker while those of a first are not
// available. It is safe for concurrent use.
type FallbackLocker struct {
	first, second Locker
	rule          Rule

	mu    sync.Mutex
	until time.Time // zero while the first works
}

// Rule is when a FallbackLocker switches.
type Rule struct {
	// Stay is how long this process stays with the second locker after the first
	// was not available; required. Then one call tries the first, and the others
	// follow once it was answered.
	Stay time.Duration
	// Switched is told of each failure of the first that made a call go to the
	// second; nil for nobody. It is called by many goroutines at once.
	Switched func(error)
	// Now is the clock, nil for the system's. Tests put theirs here.
	Now func() time.Time
}

// Fallback returns a locker that has one rule: a call goes to first, and to second
// when first answers ErrUnavailable, before its function ran; the process then
// stays with second for a while. A lock that is merely held by others is no
// reason to switch.
//
// At the moment of a switch, and while some processes have switched and others
// have not, two can hold a lock of one name, one of each kind. That is why
// LockJudgeUpdate compares in the update what it judged, and the fencing value.
// The error is fsm.ErrArgument.
func Fallback(first, second Locker, rule Rule) (*FallbackLocker, error) {
	if first == nil || second == nil || rule.Stay <= 0 {
		return nil, fmt.Errorf("%w: a fallback needs two lockers, and a time to stay that is positive", fsm.ErrArgument)
	}
	if rule.Now == nil {
		rule.Now = time.Now
	}
	return &FallbackLocker{first: first, second: second, rule: rule}, nil
}

// With is Locker's.
func (f *FallbackLocker) With(ctx context.Context, name string, fn func(ctx context.Context, held Held) error) error {
	return f.choose(ctx, func(chosen Locker, begun func()) error {
		return chosen.With(ctx, name, func(ctx context.Context, held Held) error {
			begun()
			return fn(ctx, held)
		})
	})
}

// choose calls run with the locker to take, and again with the second when the
// first is not available. run calls begun when its function begins: from then on
// an ErrUnavailable is the function's own.
func (f *FallbackLocker) choose(ctx context.Context, run func(chosen Locker, begun func()) error) error {
	if f.tryFirst() {
		ran := false
		err := run(f.first, func() {
			ran = true
			f.works()
		})
		switch {
		case ran:
			return err
		case errors.Is(err, ErrNotAcquired): // others hold it, so it works
			f.works()
			return err
		case !errors.Is(err, ErrUnavailable):
			return err
		}
		f.fails(err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return run(f.second, func() {})
}

func (f *FallbackLocker) tryFirst() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until.IsZero() {
		return true
	}
	now := f.rule.Now()
	if now.Before(f.until) {
		return false
	}
	f.until = now.Add(f.rule.Stay) // for the others, until this one knows
	return true
}

func (f *FallbackLocker) works() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = time.Time{}
}

func (f *FallbackLocker) fails(err error) {
	f.mu.Lock()
	f.until = f.rule.Now().Add(f.rule.Stay)
	f.mu.Unlock()
	if f.rule.Switched != nil {
		f.rule.Switched(err)
	}
}
