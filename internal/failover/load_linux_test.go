package failover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

const (
	callers     = 8
	callTimeout = 3 * time.Second  // of one call, which a frozen primary never answers
	patience    = 90 * time.Second // until a test is given up
)

// load is callers who place orders and tell all that happens to them, each until it has
// an answer.
type load struct {
	pool  *pgxpool.Pool
	kinds []func(int, *life)
	// doubtful has answers that an old primary may give which nobody has told yet
	// that it is one: they are counted, and asked for again.
	doubtful bool

	stop, abandon context.Context // no more orders; no more calls
	end, leave    context.CancelFunc
	callers       sync.WaitGroup

	mu       sync.Mutex
	lives    []*told
	acks     int
	more     chan struct{} // closed and made anew with each acknowledgement
	since    time.Time     // when a fault was complete
	first    time.Duration // from then to the first effect of a call begun after it
	unknown  int           // calls of which nobody knows what they did
	resolved int           // of those, found done by the same call again
	stale    int           // doubtful answers
	last     string        // why there was no answer, the last time
	wrong    []string      // answers that were not true
}

// told is a life with the answers to each of its steps.
type told struct {
	*life
	acks []ack
}

// ack is what was acknowledged of one step: how often it was said to have had its
// effect, and at which version.
type ack struct {
	effects, unknown int
	answered         bool
	version          int64
}

func newLoad(pool *pgxpool.Pool, kinds ...func(int, *life)) *load {
	l := &load{pool: pool, kinds: kinds, more: make(chan struct{})}
	l.stop, l.end = context.WithCancel(context.Background())
	l.abandon, l.leave = context.WithCancel(context.Background())
	return l
}

// start has the callers begin, who draw from the seed whether they tell a thing again.
func (l *load) start(seed uint64) {
	for i := range callers {
		l.callers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for l.stop.Err() == nil && l.abandon.Err() == nil {
				l.live(l.begin(), r)
			}
		})
	}
}

func (l *load) begin() *told {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := lifeOf(len(l.lives)+1, l.kinds...)
	t := &told{life: one, acks: make([]ack, len(one.steps))}
	l.lives = append(l.lives, t)
	return t
}

// live tells all steps in turn, some of them twice.
func (l *load) live(t *told, r *rand.Rand) {
	for i := range t.steps {
		if !l.tell(t, i) {
			return
		}
		if r.IntN(4) == 0 && !l.tell(t, i) {
			return
		}
	}
}

// tell makes the call of a step until it has an answer, and reports whether it has.
func (l *load) tell(t *told, i int) bool {
	s := t.steps[i]
	for l.abandon.Err() == nil {
		ctx, cancel := context.WithTimeout(l.abandon, callTimeout)
		begun := time.Now()
		r, err := l.ask(ctx, s)
		cancel()
		if err == nil && (r.Outcome == s.effect || r.Outcome == fsm.Replayed) {
			l.acknowledge(t, i, begun, r.Outcome, r.Transition.Version)
			return true
		}
		if l.abandon.Err() != nil {
			return false
		}
		l.note(t, i, r.Outcome, err)
		pause(l.abandon, 20*time.Millisecond) // before the next attempt
	}
	return false
}

// ask makes the call. That somebody else's call was replayed is taken for an answer when
// what it says is on a standby too, by the server that says so: one that was the primary
// may have what nobody else has.
func (l *load) ask(ctx context.Context, s step) (order.Result, error) {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return order.Result{}, fmt.Errorf("%w: %w", fsm.ErrNothingDone, err)
	}
	defer conn.Release()
	r, err := s.call(ctx, conn)
	if err == nil && r.Outcome == fsm.Replayed {
		err = fsm.AwaitStandbys(ctx, conn)
	}
	return r, err
}

// acknowledge writes an answer down.
func (l *load) acknowledge(t *told, i int, begun time.Time, outcome fsm.Outcome, version int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &t.acks[i]
	switch {
	case outcome == t.steps[i].effect:
		if a.effects++; a.answered {
			l.wrong = append(l.wrong, fmt.Sprintf("%s of %s had its effect twice", t.steps[i].event, t.key))
		}
		if !l.since.IsZero() && l.first == 0 && begun.After(l.since) {
			l.first = time.Since(l.since)
		}
		a.version = version
	case !a.answered && a.unknown == 0:
		l.wrong = append(l.wrong, fmt.Sprintf("%s of %s was replayed before it was told", t.steps[i].event, t.key))
	case !a.answered:
		l.resolved++
		a.version = version
	}
	a.answered = true
	l.acks++
	close(l.more)
	l.more = make(chan struct{})
}

// note writes down why there was no answer.
func (l *load) note(t *told, i int, outcome fsm.Outcome, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = fmt.Sprintf("%s of %s: %q %v", t.steps[i].event, t.key, outcome, err)
	switch {
	case errors.Is(err, fsm.ErrUnknown):
		l.unknown++
		t.acks[i].unknown++
	case errors.Is(err, fsm.ErrNothingDone) || fsm.Retryable(err):
	case l.doubtful:
		l.stale++
	default:
		l.wrong = append(l.wrong, l.last)
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// failed starts the clock: from now on the first effect of a new call is waited for.
func (l *load) failed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.first = time.Now(), 0
}

// await returns when so many more answers have come than now.
func (l *load) await(t testing.TB, more int) {
	t.Helper()
	l.until(t, func(from int) bool { return l.acks >= from+more })
}

// awaitFirst returns the time from the fault to the first effect of a call begun since.
func (l *load) awaitFirst(t testing.TB) time.Duration {
	t.Helper()
	l.until(t, func(int) bool { return l.first > 0 })
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// until returns when done says so, which is asked at each answer with the number of
// those that there were at first.
func (l *load) until(t testing.TB, done func(from int) bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	l.mu.Lock()
	from := l.acks
	for !done(from) {
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-deadline.C:
			require.FailNow(t, "no answers come", "%s; at last %s", l.totals(), l.last)
		}
		l.mu.Lock()
	}
	l.mu.Unlock()
}

// finish lets the callers end their orders.
func (l *load) finish() {
	l.end()
	l.callers.Wait()
}

// drop has the callers leave whatever they are at.
func (l *load) drop() {
	l.leave()
	l.callers.Wait()
}
