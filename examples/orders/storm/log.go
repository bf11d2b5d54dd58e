package storm

import (
	"maps"
	"slices"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// toldNothing: the connection broke, or nobody answered in time.
const toldNothing fsm.Outcome = "NoAnswer"

// log is what the callers were answered.
type log struct {
	// kept says that callbacks are answered when they are kept, whatever comes of them.
	kept     bool
	requests int
	told     map[answer]int
	// unsettled counts answers after which the caller comes again.
	unsettled map[eventOutcome]int
	// first and repeated are how long callbacks took that did something, and
	// those that had done so before.
	first, repeated []time.Duration
	again           []task
	took            time.Duration
}

type eventOutcome struct {
	event   order.Event
	outcome fsm.Outcome
}

func newLog() *log {
	return &log{told: map[answer]int{}, unsettled: map[eventOutcome]int{}}
}

func (l *log) note(t task, r reply) {
	l.requests++
	if !r.settled {
		l.unsettled[eventOutcome{t.event, r.told}]++
		if t.attempts++; t.attempts < maxAttempts {
			l.again = append(l.again, t)
			return
		}
		// Given up: the oracle foresees no such answer, so it counts.
	}
	l.told[answer{t.question(), r.told}]++
	if !t.callback() {
		return
	}
	switch r.told {
	case fsm.Applied, fsm.Compensated:
		l.first = append(l.first, r.took)
	case fsm.Replayed:
		l.repeated = append(l.repeated, r.took)
	}
}

// add takes over what another log has.
func (l *log) add(o *log) {
	l.requests += o.requests
	for a, n := range o.told {
		l.told[a] += n
	}
	for e, n := range o.unsettled {
		l.unsettled[e] += n
	}
	l.first = append(l.first, o.first...)
	l.repeated = append(l.repeated, o.repeated...)
	l.again = append(l.again, o.again...)
}

// toldIn returns the answers about some orders.
func (l *log) toldIn(s story, index map[int][]answer) map[answer]int {
	told := map[answer]int{}
	for _, i := range s.orders {
		for _, a := range index[i] {
			told[a] = l.told[a]
		}
	}
	return told
}

// byOrder lists the answers about each order.
func (l *log) byOrder() map[int][]answer {
	index := map[int][]answer{}
	for a := range maps.Keys(l.told) {
		index[a.order] = append(index[a.order], a)
	}
	return index
}

// percentile returns the p-th percentile of sorted or unsorted times, 0 for none.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[(len(sorted)-1)*p/100]
}
