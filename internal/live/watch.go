package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// Figure is a value that is read again and again.
type Figure[T any] struct {
	Value T
	// At is when the value was read, zero before that, and Took how long that took.
	At   time.Time
	Took time.Duration
	// Err is why the last try brought none, and Failed since when there is none; nil
	// and zero where the last try was fine. The value is then that of At.
	Err    error
	Failed time.Time
	// Next is when it is read again, as long as somebody looks; zero before the first try.
	Next time.Time
}

// Known reports whether there is a value.
func (f Figure[T]) Known() bool { return !f.At.IsZero() }

// Current reports whether the value, or why there is none, is as new at a time as those
// are that somebody looks at all the while.
func (f Figure[T]) Current(at time.Time) bool {
	return !f.Next.IsZero() && !at.After(f.Next.Add(soonest))
}

// Old reports whether the value has been waited for in vain.
func (f Figure[T]) Old(at time.Time) bool { return f.Known() && at.After(f.Next.Add(overdue)) }

// View is what is known of a machine now.
type View struct {
	Counts    Figure[Counts]
	Deadlines Figure[Deadlines]
	Moves     Figure[Moves]
	Oldest    Figure[[]Oldest]
	// of is the definition by which it was read.
	of *model.Machine
}

// Topic is what a page looks at: All, Beside, or the name of a machine with a colon
// before it.
type Topic string

// All are the counts and deadlines of every machine; Beside is what waits, and what
// was delivered.
const (
	All    Topic = "all"
	Beside Topic = "beside"
)

// Of is the topic of one machine.
func Of(machine string) Topic { return Topic(":" + machine) }

// Watch reads figures for whoever looks, once for all of them, and nothing as long as
// nobody does. The caller must Close it.
type Watch struct {
	db       *Database
	machines func() []*model.Machine
	now      func() time.Time
	cancel   context.CancelFunc
	ended    chan struct{}
	wake     chan struct{}

	mu         sync.Mutex
	looking    map[Topic]int
	views      map[string]*View
	lags       Figure[Lags]
	deliveries Figure[Deliveries]
	next       map[question]time.Time
	listeners  map[*listener]bool
	away       time.Time // since when the database cannot be reached, zero for it can
	awayUntil  time.Time // when that is tried again
}

// NewWatch returns a Watch over the machines that the function returns, each time anew;
// both functions must be safe for concurrent use. now is the time by which figures are
// old.
func NewWatch(db *Database, machines func() []*model.Machine, now func() time.Time) *Watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watch{
		db: db, machines: machines, now: now, cancel: cancel, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		looking: map[Topic]int{}, views: map[string]*View{}, next: map[question]time.Time{}, listeners: map[*listener]bool{},
	}
	go w.run(ctx)
	return w
}

// Close ends the reading, and waits for the query under way to end.
func (w *Watch) Close() {
	w.cancel()
	<-w.ended
}

// Look says that somebody looks at the topic until stop is called, which may be
// done more than once. The first figures of a topic follow at once.
func (w *Watch) Look(at Topic) (stop func()) {
	w.mu.Lock()
	w.looking[at]++
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.looking[at]--; w.looking[at] == 0 {
			delete(w.looking, at)
		}
	})
}

// Machine is what is known of a machine; a machine that was not looked at has nothing.
func (w *Watch) Machine(name string) View {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.views[name]; v != nil {
		return *v
	}
	return View{}
}

// Lags and Deliveries are what is known of the tables beside the machines.
func (w *Watch) Lags() Figure[Lags] {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lags
}

// Deliveries is what was delivered of late.
func (w *Watch) Deliveries() Figure[Deliveries] {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.deliveries
}

// Away is since when the database cannot be reached, zero while it can.
func (w *Watch) Away() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

// StillAway reports whether the database could not be reached when it was tried last,
// and that was of late.
func (w *Watch) StillAway() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.away.IsZero() && !w.now().After(w.awayUntil.Add(soonest))
}

// listener is told of topics that have new figures.
type listener struct {
	topic Topic
	told  chan struct{}
}

// Listen returns a channel that gets a value when there is news of the topic; several
// pieces of news in a row may be one. stop ends it. It does not look by itself.
func (w *Watch) Listen(to Topic) (news <-chan struct{}, stop func()) {
	l := &listener{to, make(chan struct{}, 1)}
	w.mu.Lock()
	w.listeners[l] = true
	w.mu.Unlock()
	return l.told, func() {
		w.mu.Lock()
		delete(w.listeners, l)
		w.mu.Unlock()
	}
}

// tell tells whoever listens to a topic that is one of these. It is called under the lock.
func (w *Watch) tell(one func(Topic) bool) {
	for l := range w.listeners {
		if one(l.topic) {
			select {
			case l.told <- struct{}{}:
			default:
			}
		}
	}
}

// run asks what is due, one question after the other.
func (w *Watch) run(ctx context.Context) {
	defer close(w.ended)
	for ctx.Err() == nil {
		machines := w.machines()
		w.mu.Lock()
		w.forget(machines)
		ask := w.questions(machines)
		q, wait := w.due(ask, w.now())
		w.mu.Unlock()
		if wait == 0 {
			start := time.Now()
			err := w.ask(ctx, machines, q)
			wait = w.rested(q, time.Since(start), err)
			if !sleep(ctx, wait, nil) {
				return
			}
			continue
		}
		if !sleep(ctx, wait, w.wake) {
			return
		}
	}
}

// forget drops what was read by definitions that are no more, so that no figure of another
// table or state is shown for theirs. It is called under the lock.
func (w *Watch) forget(machines []*model.Machine) {
	gone := map[string]bool{}
	for name, v := range w.views {
		if !slices.Contains(machines, v.of) {
			gone[name] = true
			delete(w.views, name)
		}
	}
	maps.DeleteFunc(w.next, func(q question, _ time.Time) bool { return gone[q.machine] })
}

// due is the question that has waited longest to be asked, in the order of questions
// those that never were, or how long there is none: for ever, as a negative time, where
// nobody looks.
func (w *Watch) due(ask []question, now time.Time) (question, time.Duration) {
	if len(ask) == 0 {
		return question{}, -1
	}
	first := slices.MinFunc(ask, func(a, b question) int { return w.next[a].Compare(w.next[b]) })
	return first, max(0, w.next[first].Sub(now))
}

// rested says when the question comes next, and returns how long nothing is asked.
func (w *Watch) rested(q question, took time.Duration, err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	again := w.now().Add(pauseAfter(took, err))
	w.next[q] = again
	w.awayUntil = again
	switch lost := errors.Is(err, ErrAway); {
	case lost && w.away.IsZero():
		w.away = w.now()
		w.tell(every)
	case !lost && !w.away.IsZero():
		w.away = time.Time{}
		clear(w.next) // what failed meanwhile is asked at once
		w.next[q] = again
		w.tell(every)
	}
	if errors.Is(err, ErrAway) {
		return soonest
	}
	return min(breath*took, Long)
}

// sleep waits, for ever when the time is negative, or until wake; false says that ctx
// has ended.
func sleep(ctx context.Context, wait time.Duration, wake <-chan struct{}) bool {
	var timer <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-timer:
	case <-wake:
	}
	return true
}
