package nemesis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Plan says which harm is done when: a lane after the other's. It comes from a seed
// and has no end.
type Plan struct {
	seed  uint64
	lanes [][]Named
	pace  Pace
}

// Pace is how long harm lasts, and how long the pauses are in which it is borne.
type Pace struct{ MinHarm, MaxHarm, MinPause, MaxPause time.Duration }

// NewPlan plans the harm of the lanes. Lanes without any are left out.
func NewPlan(seed uint64, lanes [][]Named, pace Pace) *Plan {
	p := &Plan{seed: seed, pace: pace}
	for _, lane := range lanes {
		if len(lane) > 0 {
			p.lanes = append(p.lanes, lane)
		}
	}
	return p
}

// Lanes is how many there are.
func (p *Plan) Lanes() int { return len(p.lanes) }

// Step is one piece of harm.
type Step struct {
	Named
	// Pause is from the end of the one before, Harm how long it lasts.
	Pause, Harm time.Duration
	// Seed is the nemesis's own.
	Seed uint64
	// Last says that with it each one of the lane has had its turn.
	Last bool
}

// Steps returns what gives one step of a lane after the other: first each nemesis
// once, in an order that the seed decides, then any.
func (p *Plan) Steps(lane int) func() Step {
	r := rand.New(rand.NewPCG(p.seed, uint64(lane)))
	all := p.lanes[lane]
	order := r.Perm(len(all))
	n := 0
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low+1))) }
	return func() Step {
		chosen := r.IntN(len(all))
		if n < len(order) {
			chosen = order[n]
		}
		n++
		return Step{
			Named: all[chosen], Pause: between(p.pace.MinPause, p.pace.MaxPause), Harm: between(p.pace.MinHarm, p.pace.MaxHarm),
			Seed: r.Uint64(), Last: n == len(order),
		}
	}
}

// String shows each lane up to a time: when each harm would begin and how long it
// would last, in seconds, were mending no work.
func (p *Plan) Text(until time.Duration) string {
	var b strings.Builder
	for lane := range p.lanes {
		next := p.Steps(lane)
		fmt.Fprintf(&b, "  lane %d:", lane+1)
		for at := time.Duration(0); at < until; {
			s := next()
			at += s.Pause
			fmt.Fprintf(&b, " %s@%.1f+%.1f", s.Name, at.Seconds(), s.Harm.Seconds())
			at += s.Harm
		}
		b.WriteByte('\n')
	}
	return b.String()
}
