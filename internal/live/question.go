package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// question is one that is asked again and again. Their order is that in which the first
// answers come: what is quick comes first.
type question struct {
	what    int
	machine string
}

const (
	askEstimate = iota
	askDeadlines
	askMoves
	askDeliveries
	askLags
	askCount
	askOldest
)

const (
	// rest is how many times as long as it took a question is not asked again: what
	// reads a table whole may take a twentieth of the time. soonest is the least.
	rest    = 20
	soonest = time.Second
	// breath is how many times as long as one took no question is asked at all: a fifth
	// of one connection's time for everything together.
	breath = 4
	// retry is when a question that failed is asked again.
	retry = 3 * time.Second
	// overdue is for how long a figure may be waited for without a word that it is old.
	overdue = 10 * time.Second
)

// pause is how long a question is not asked after it took so long.
func pause(took time.Duration) time.Duration { return max(soonest, rest*took) }

// pauseAfter is that of a try that ended in err, or in none.
func pauseAfter(took time.Duration, err error) time.Duration {
	if err != nil {
		return max(pause(took), retry)
	}
	return pause(took)
}

// questions are those that somebody's looking asks for now. Called under the lock.
func (w *Watch) questions(machines []*model.Machine) []question {
	var ask []question
	beside := w.looking[Beside] > 0
	for _, m := range machines {
		if m.Table == nil {
			continue
		}
		one := w.looking[Of(m.Name)] > 0
		beside = beside || one
		if !one && w.looking[All] == 0 {
			continue
		}
		known := w.views[m.Name]
		if known == nil || !known.Counts.Known() {
			ask = append(ask, question{askEstimate, m.Name})
		}
		ask = append(ask, question{askCount, m.Name})
		if m.Deadlines() {
			ask = append(ask, question{askDeadlines, m.Name})
		}
		if one {
			ask = append(ask, question{askMoves, m.Name})
			if known != nil && known.Counts.Known() {
				ask = append(ask, question{askOldest, m.Name})
			}
		}
	}
	if beside {
		ask = append(ask, question{what: askDeliveries})
	}
	if w.looking[Beside] > 0 {
		ask = append(ask, question{what: askLags})
	}
	slices.SortStableFunc(ask, func(a, b question) int { return cmp.Compare(a.what, b.what) })
	return ask
}

// ask asks one question and keeps its answer.
func (w *Watch) ask(ctx context.Context, machines []*model.Machine, q question) error {
	switch q.what {
	case askDeliveries:
		return keep(ctx, w, func() *Figure[Deliveries] { return &w.deliveries }, notAll, w.db.Deliveries)
	case askLags:
		return keep(ctx, w, func() *Figure[Lags] { return &w.lags }, onBeside, func(ctx context.Context) (Lags, error) { return w.db.Lags(ctx, machines) })
	}
	m := machines[slices.IndexFunc(machines, func(m *model.Machine) bool { return m.Name == q.machine })] // the questions were made of these
	alone := func(t Topic) bool { return t == Of(m.Name) }
	shared := func(t Topic) bool { return t == All || alone(t) }
	switch q.what {
	case askEstimate:
		return keep(ctx, w, func() *Figure[Counts] { return &w.view(m).Counts }, shared, func(ctx context.Context) (Counts, error) { return w.db.Estimate(ctx, m) })
	case askCount:
		return keep(ctx, w, func() *Figure[Counts] { return &w.view(m).Counts }, shared, func(ctx context.Context) (Counts, error) { return w.count(ctx, m) })
	case askDeadlines:
		return keep(ctx, w, func() *Figure[Deadlines] { return &w.view(m).Deadlines }, shared, func(ctx context.Context) (Deadlines, error) { return w.db.Deadlines(ctx, m) })
	case askMoves:
		return keep(ctx, w, func() *Figure[Moves] { return &w.view(m).Moves }, alone, func(ctx context.Context) (Moves, error) { return w.db.Moves(ctx, m) })
	}
	counts := w.Machine(m.Name).Counts.Value
	return keep(ctx, w, func() *Figure[[]Oldest] { return &w.view(m).Oldest }, alone, func(ctx context.Context) ([]Oldest, error) { return w.db.Oldest(ctx, m, counts) })
}

// count counts, and estimates again where there is too much to count.
func (w *Watch) count(ctx context.Context, m *model.Machine) (Counts, error) {
	counts, err := w.db.Count(ctx, m)
	if errors.Is(err, ErrSlow) {
		return w.db.Estimate(ctx, m)
	}
	return counts, err
}

// view is the machine's, called under the lock.
func (w *Watch) view(m *model.Machine) *View {
	if v := w.views[m.Name]; v == nil || v.of != m {
		w.views[m.Name] = &View{of: m}
	}
	return w.views[m.Name]
}

func every(Topic) bool      { return true }
func notAll(t Topic) bool   { return t != All }
func onBeside(t Topic) bool { return t == Beside }

// keep reads a figure, puts it where it belongs, and tells of it.
func keep[T any](ctx context.Context, w *Watch, at func() *Figure[T], topics func(Topic) bool, read func(context.Context) (T, error)) error {
	start := time.Now()
	value, err := read(ctx)
	took := time.Since(start)
	w.mu.Lock()
	defer w.mu.Unlock()
	now, f := w.now(), at()
	switch {
	case err == nil:
		*f = Figure[T]{Value: value, At: now, Took: took}
	case ctx.Err() != nil:
		return err
	default:
		f.Err = err
		if f.Failed.IsZero() {
			f.Failed = now
		}
	}
	f.Next = now.Add(pauseAfter(took, err))
	w.tell(topics)
	return err
}
