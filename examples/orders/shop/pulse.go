package shop

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
)

// patience is for how long the background work may go without a sign of life beyond
// its pauses: longer than a round of the relay, and than any page of a sweep.
const patience = time.Minute

// pulse knows when the parts of the background work last went on. Nothing is stuck
// before it has begun.
type pulse struct {
	mu   sync.Mutex
	seen map[any]beat // by the channel that wakes a lane of the relay, or by name
}

type beat struct {
	part  string
	at    time.Time
	every time.Duration
}

// of notes a sign of life of a part, which may pause for every.
func (p *pulse) of(key any, part string, now time.Time, every time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[any]beat{}
	}
	p.seen[key] = beat{part, now, every}
}

// again notes a sign of life of all that part consists of.
func (p *pulse) again(part string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, b := range p.seen {
		if b.part == part {
			b.at = now
			p.seen[key] = b
		}
	}
}

// stuck are the parts that have been still beyond their pauses and patience.
func (p *pulse) stuck(now time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, b := range p.seen {
		if now.Sub(b.at) > b.every+patience {
			parts = append(parts, b.part)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// reached notes that the database did all that it was asked for since mark.
func (s *Service) reached(mark uint64) {
	if attrs := s.outage.over(s.now(), mark); attrs != nil {
		s.log.Info("the database is back", attrs...)
	}
}

// heardSweeper has a sweeper give signs of life, its own and the database's.
func (s *Service) heardSweeper(w *fsm.Sweeper) *fsm.Sweeper {
	const part = "sweeper"
	every := w.Every
	if every <= 0 {
		every = time.Second
	}
	swept, alive := w.Swept, func() { s.pulse.of(part, part, s.now(), every) }
	alive()
	mark := s.outage.mark() // the rounds are one after the other
	failed, fails := w.Failed, false
	w.Failed = func(err error) {
		fails = true
		failed(err)
	}
	w.Swept = func(rows []fsm.Swept) {
		alive()
		swept(rows)
	}
	w.Wait = func(ctx context.Context, d time.Duration) error {
		alive()
		if ctx.Err() == nil && !fails {
			s.reached(mark)
		}
		err := wait(ctx, d, nil)
		mark, fails = s.outage.mark(), false
		return err
	}
	return w
}

// heardRelay has a relay give signs of life, each of its lanes by itself.
func (s *Service) heardRelay(r *relay.Relay) *relay.Relay {
	const part = "relay"
	s.pulse.of(part, part, s.now(), 0) // until its lanes are heard of
	r.Wait = func(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
		s.pulse.of(wake, part, s.now(), d)
		s.pulse.of(part, part, s.now(), d)
		return wait(ctx, d, wake)
	}
	delivered := r.Delivered
	r.Delivered = func(messages []relay.Message) {
		s.pulse.again(part, s.now())
		if delivered != nil {
			delivered(messages)
		}
	}
	return r
}

// wait waits for d, or until wake says something.
func wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-wake:
	}
	return ctx.Err()
}
