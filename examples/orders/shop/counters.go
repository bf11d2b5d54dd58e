package shop

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/inbox"
)

// Counters is what the service counted since it was made.
type Counters struct {
	// Outcomes are sorted by machine, event and outcome. Only what was
	// committed is counted.
	Outcomes []OutcomeCount `json:"outcomes"`
	// Refused are the callbacks that were not believed, by provider and reason.
	Refused []RefusedCount `json:"refused"`
	// Ignored are the genuine callbacks of types that are not ours, by provider.
	// The log has the types: counting by them would let the list grow for ever.
	Ignored []IgnoredCount `json:"ignored"`
	// Verdicts are what became of the callbacks of an inbox, by provider: a verdict
	// each time that one was told or tried again.
	Verdicts []VerdictCount `json:"verdicts"`
	// Turns are the callbacks that asked for the lock of their order.
	Turns []TurnCount `json:"turns"`
	// Calls are what happened to provider calls for refunds.
	Calls []CallCount `json:"calls"`
}

// OutcomeCount says how often calls of one event had one outcome.
type OutcomeCount struct {
	Machine string      `json:"machine"`
	Event   string      `json:"event"`
	Outcome fsm.Outcome `json:"outcome"`
	Count   int64       `json:"count"`
}

// RefusedCount says how often callbacks were refused for one reason:
// "signature", "stale", "future" or "header", and with an inbox its others, such as
// "key" or "content_type".
type RefusedCount struct {
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
	Count    int64  `json:"count"`
}

// IgnoredCount says how often a provider told something of an unknown type.
type IgnoredCount struct {
	Provider string `json:"provider"`
	Count    int64  `json:"count"`
}

// VerdictCount says how often package inbox had one verdict.
type VerdictCount struct {
	Provider string        `json:"provider"`
	Verdict  inbox.Verdict `json:"verdict"`
	Count    int64         `json:"count"`
}

// TurnCount says how often callbacks came by the lock of their order in one way:
// "held"; or, and they were settled all the same, "late", "away", "lost", "wrong".
type TurnCount struct {
	Turn  string `json:"turn"`
	Count int64  `json:"count"`
}

// CallCount says how often one thing happened to provider calls.
type CallCount struct {
	What  attempt.What `json:"what"`
	Count int64        `json:"count"`
}

// Counters returns the counters of this moment. The lists are empty, not nil,
// when nothing was counted.
func (s *Service) Counters() Counters {
	out := s.counters.snapshot()
	out.Calls = s.calls.counted()
	return out
}

type counters struct {
	mu       sync.Mutex
	outcomes map[OutcomeCount]int64 // keys with Count 0
	refused  map[RefusedCount]int64
	ignored  map[IgnoredCount]int64
	verdicts map[VerdictCount]int64
	turns    map[TurnCount]int64
}

func (c *counters) outcome(machine, event string, outcome fsm.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[OutcomeCount]int64{}
	}
	c.outcomes[OutcomeCount{Machine: machine, Event: event, Outcome: outcome}]++
}

func (c *counters) refuse(provider, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[RefusedCount]int64{}
	}
	c.refused[RefusedCount{Provider: provider, Reason: reason}]++
}

func (c *counters) ignore(provider string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ignored == nil {
		c.ignored = map[IgnoredCount]int64{}
	}
	c.ignored[IgnoredCount{Provider: provider}]++
}

func (c *counters) verdict(provider string, v inbox.Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[VerdictCount]int64{}
	}
	c.verdicts[VerdictCount{Provider: provider, Verdict: v}]++
}

func (c *counters) turn(t turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns == nil {
		c.turns = map[TurnCount]int64{}
	}
	c.turns[TurnCount{Turn: string(t)}]++
}

func (c *counters) snapshot() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Counters{Outcomes: []OutcomeCount{}, Refused: []RefusedCount{}, Ignored: []IgnoredCount{}, Verdicts: []VerdictCount{}, Turns: []TurnCount{}}
	for k, n := range c.outcomes {
		k.Count = n
		out.Outcomes = append(out.Outcomes, k)
	}
	for k, n := range c.refused {
		k.Count = n
		out.Refused = append(out.Refused, k)
	}
	for k, n := range c.ignored {
		k.Count = n
		out.Ignored = append(out.Ignored, k)
	}
	for k, n := range c.verdicts {
		k.Count = n
		out.Verdicts = append(out.Verdicts, k)
	}
	for k, n := range c.turns {
		k.Count = n
		out.Turns = append(out.Turns, k)
	}
	slices.SortFunc(out.Outcomes, func(a, b OutcomeCount) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Outcome, b.Outcome))
	})
	slices.SortFunc(out.Refused, func(a, b RefusedCount) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(out.Ignored, func(a, b IgnoredCount) int { return cmp.Compare(a.Provider, b.Provider) })
	slices.SortFunc(out.Verdicts, func(a, b VerdictCount) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Verdict, b.Verdict))
	})
	slices.SortFunc(out.Turns, func(a, b TurnCount) int { return cmp.Compare(a.Turn, b.Turn) })
	return out
}

// tally gathers what a transaction did, to be counted when it has committed: an
// attempt that rolled back did nothing.
type tally []OutcomeCount

func (t *tally) add(machine, event string, outcome fsm.Outcome) {
	*t = append(*t, OutcomeCount{Machine: machine, Event: event, Outcome: outcome})
}

func (s *Service) count(t tally) {
	for _, o := range t {
		s.counters.outcome(o.Machine, o.Event, o.Outcome)
	}
}

func (s *Service) getCounters(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Counters())
}
