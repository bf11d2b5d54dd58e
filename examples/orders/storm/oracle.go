package storm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/gen/order"
)

// outcomesOf returns every way in which a story may end: within a wave its
// requests come in any order, and so may a deadline between them. The ways are
// distinct, at least one, and in a fixed order.
//
// Copies of one request are taken together. That loses no way to end: with an
// identity, all after the first that counted are replays, whatever is between.
func outcomesOf(s story, purchases []purchase) []*world {
	worlds := []*world{newWorld(s, purchases)}
	var now time.Duration
	for wave := range waveCount {
		if !s.still {
			now += waves[wave].after
		}
		steps := stepsIn(s, wave)
		var next []*world
		for _, w := range worlds {
			for _, sequence := range permutations(slices.Concat(steps, w.again, w.expiring(s, now))) {
				next = append(next, w.run(sequence, now))
			}
		}
		worlds = distinct(next)
	}
	return worlds
}

// stepsIn returns the story's steps of a wave, with their late copies in the
// last.
func stepsIn(s story, wave waveNo) []step {
	var steps []step
	for _, t := range s.steps {
		if t.wave == wave {
			steps = append(steps, t)
		} else if wave == waveAgain && t.late > 0 {
			t.copies = t.late
			steps = append(steps, t)
		}
	}
	return steps
}

// expiring returns the deadlines that have passed when a wave begins. Later in
// the wave none does, since the clock stands still.
func (w *world) expiring(s story, now time.Duration) []step {
	var steps []step
	for _, i := range s.orders {
		if o := w.orders[i]; o.status == order.StatePending && now >= o.since+payWithin {
			steps = append(steps, step{action: action{event: order.EventExpire, order: i}, copies: 1})
		}
	}
	return steps
}

// run tells a copy of the world the steps in sequence. Those whose order was not
// there yet are told again in the next wave, as the provider does.
func (w *world) run(sequence []step, now time.Duration) *world {
	w = w.clone()
	w.again = nil
	for _, t := range sequence {
		left := 0
		for range t.copies {
			if w.tell(t.action, now) == toldNotYet {
				left++
			}
		}
		if left > 0 {
			t.copies = left
			w.again = append(w.again, t)
		}
	}
	return w
}

// permutations returns all sequences of steps.
func permutations(steps []step) [][]step {
	if len(steps) <= 1 {
		return [][]step{steps}
	}
	var all [][]step
	for i := range steps {
		rest := slices.Delete(slices.Clone(steps), i, i+1)
		for _, tail := range permutations(rest) {
			all = append(all, append([]step{steps[i]}, tail...))
		}
	}
	return all
}

func distinct(worlds []*world) []*world {
	if len(worlds) < 2 {
		return worlds
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(worlds, func(w *world) bool {
		key := w.key()
		known := seen[key]
		seen[key] = true
		return known
	})
}

// key is equal for equal worlds: fmt prints maps sorted by key.
func (w *world) key() string {
	dues := make([]string, len(w.dues))
	for i, d := range w.dues {
		dues[i] = fmt.Sprint(d)
	}
	slices.Sort(dues)
	return fmt.Sprintf("%v|%v|%v|%v|%v", w.orders, w.facts, w.told, w.again, strings.Join(dues, ";"))
}
