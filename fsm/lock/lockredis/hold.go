package lockredis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
)

// hold is one lock that was acquired.
type hold struct {
	locker     *Locker
	key, owner string
	// until is when the key can have run out, by this process's clock: the TTL
	// after the renewal was sent, so no later than in Redis, less a hundredth
	// for clocks that run at different speeds.
	until time.Time
}

// acquire asks until the lock is had or waiting ends. ctx is the caller's: a call
// of Redis is never cut short by the end of the wait alone, since then nobody
// would know whether the lock was had.
func (l *Locker) acquire(ctx, waiting context.Context, name string) (*hold, error) {
	h := &hold{locker: l, key: l.config.Prefix + name, owner: rand.Text()}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		sent := time.Now()
		n, err := l.call(ctx, acquireScript, h.key, h.owner, millis(l.config.TTL))
		if err != nil {
			l.failed(err)
			if ctx.Err() != nil { // Redis may have given the lock, with nobody there to hear of it
				_ = h.release(ctx)
			}
			return nil, err
		}
		if n == 1 {
			h.extended(sent)
			return h, nil
		}
		next := time.NewTimer(pause/2 + mathrand.N(pause/2))
		select {
		case <-waiting.Done():
			next.Stop()
			return nil, context.Cause(waiting)
		case <-next.C:
		}
	}
}

// failure is the last one of Redis that kept a caller from its lock.
type failure struct {
	at  time.Time
	err error
}

func (l *Locker) failed(err error) {
	if errors.Is(err, lock.ErrUnavailable) {
		l.failure.Store(&failure{time.Now(), err})
	}
}

// failedSince returns the failure of another caller, nil for none: who waited in
// this process meanwhile need not pay the bound of a call to find out.
func (l *Locker) failedSince(at time.Time) error {
	if f := l.failure.Load(); f != nil && f.at.After(at) {
		return f.err
	}
	return nil
}

func (h *hold) extended(sent time.Time) {
	ttl := h.locker.config.TTL
	h.until = sent.Add(ttl - ttl/100)
}

// errGone says that the lock was lost before the function could run.
var errGone = fmt.Errorf("%w: it was lost again before it was used", lock.ErrNotAcquired)

// fence takes the fencing value, and makes sure that the lock is still held then:
// every later holder takes a greater one.
func (h *hold) fence(ctx context.Context) (int64, error) {
	if err := fault.At(ctx, lock.PointAcquired); err != nil {
		return 0, err
	}
	bounded, cancel := context.WithDeadlineCause(ctx, h.until, errGone)
	defer cancel()
	fence, err := lock.NextFence(bounded, h.locker.db)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil && bounded.Err() != nil:
		return 0, errGone
	case err != nil:
		return 0, err
	}
	held, err := h.renew(ctx)
	if err == nil && !held {
		err = errGone
	}
	return fence, err
}

// renew extends the lock, and reports false when it is not this owner's any more.
func (h *hold) renew(ctx context.Context) (bool, error) {
	if err := fault.At(ctx, PointRenew); err != nil {
		return false, err
	}
	sent := time.Now()
	n, err := h.locker.call(ctx, renewScript, h.key, h.owner, millis(h.locker.config.TTL))
	if err != nil || n != 1 {
		return false, err
	}
	h.extended(sent)
	return true, nil
}

// release frees the lock if it is still this owner's, though ctx may have ended. A
// Redis that does not answer lets the key run out.
func (h *hold) release(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // call has its bound
	n, err := h.locker.call(ctx, releaseScript, h.key, h.owner)
	switch {
	case err == nil && n != 1:
		return fmt.Errorf("%w: it was not there to be released", lock.ErrLost)
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	// The connection may have been broken before, by a restart say. If not, the key
	// is perhaps gone already, and that it is says nothing this time.
	_, err = h.locker.call(ctx, releaseAgainScript, h.key, h.owner)
	return err
}

var errExpired = fmt.Errorf("%w: it was not renewed in time", lock.ErrLost)

// run runs the function while the watchdog renews.
func (h *hold) run(ctx context.Context, held lock.Held, fn func(context.Context, lock.Held) error) error {
	inner, lose, free := lock.Holding(ctx, h.locker.config.MaxHold)
	defer free()
	// The end comes by a timer of its own, whatever the watchdog waits for.
	expiry := time.AfterFunc(time.Until(h.until), func() { lose(errExpired) })
	stop := h.watch(inner, expiry, lose)
	err := func() error {
		defer func() { // after a panic too
			stop()
			expiry.Stop()
			if err := h.release(ctx); errors.Is(err, lock.ErrLost) {
				lose(err)
			}
		}()
		return fn(inner, held)
	}()
	return lock.Outcome(inner, err)
}

// watch renews until stop has returned or the lock is lost, also after the
// caller's context has ended: the function may need a moment to notice.
func (h *hold) watch(inner context.Context, expiry *time.Timer, lose func(error)) (stop func()) {
	ttl := h.locker.config.TTL
	renewing, cancel := context.WithCancel(context.WithoutCancel(inner))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		next := time.NewTimer(ttl / 3)
		defer next.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-next.C:
			}
			if errors.Is(context.Cause(inner), lock.ErrLost) {
				return // by the timer, or at the cap: it is not to live on
			}
			held, err := h.renew(renewing)
			switch {
			case err != nil:
				next.Reset(ttl / 10) // expiry ends it, if nothing does
			case !held:
				lose(fmt.Errorf("%w: somebody else has it, or it ran out", lock.ErrLost))
				return
			default:
				expiry.Reset(time.Until(h.until))
				next.Reset(ttl / 3)
			}
		}
	}()
	return func() {
		cancel()
		<-gone
	}
}
