package fsmtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// behind lets each event that moves nothing in the state and compensates come behind
// each one that moves the row, while that is not committed: the fact must say where
// the row stands then, and not where it stood when the call came. Races has no such
// pair, since it is of events that can both move the row.
func (e *engine) behind(t *testing.T, state string) {
	for _, late := range e.m.Events {
		c, ok := e.caseOf(late.Name, state, fsm.Compensated)
		if _, moves := e.caseOf(late.Name, state, fsm.Applied); !ok || moves {
			continue
		}
		for _, first := range e.m.Events {
			move, ok := e.caseOf(first.Name, state, fsm.Applied)
			if !ok {
				continue
			}
			// Where it moves the row on, other values than these may be needed.
			if _, moves := e.caseOf(late.Name, move.To, fsm.Applied); moves {
				continue
			}
			t.Run(first.Name+"_then_"+late.Name, func(t *testing.T) {
				t.Parallel()
				defer e.turn(first.Name, late.Name)()
				if move.Skip != "" {
					move = e.settled(t.Context(), move)
				}
				if move.Skip != "" {
					untested(t, move.Skip)
				}
				o := overlap{e: e, t: t, race: Race{
					In: state, Given: move.Given,
					First: RaceCall{Event: move.Event, Params: move.Params}, Second: RaceCall{Event: c.Event, Params: c.Params},
				}}
				o.run("committed", true)
				o.run("rolled back", false)
			})
		}
	}
}

// caseOf returns the first case of an event in a state with an outcome; false where
// there is none.
func (e *engine) caseOf(event, state string, outcome fsm.Outcome) (Case, bool) {
	i := slices.IndexFunc(e.m.Cases, func(c Case) bool {
		return c.Event == event && c.Outcome == outcome && !strings.Contains(c.Variant, " ") && slices.Contains(c.In, state)
	})
	if i < 0 {
		return Case{}, false
	}
	return e.m.Cases[i], true
}
