package fsmtest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// toldTwice lets each call that compensates in the state meet the same fact, told
// at once of the row and of another one.
func (e *engine) toldTwice(t *testing.T, state string) {
	for _, event := range e.m.Events {
		ways := slices.DeleteFunc(slices.Clone(e.m.Cases), func(c Case) bool {
			return c.Event != event.Name || c.Outcome != fsm.Compensated || !slices.Contains(c.In, state)
		})
		if len(ways) == 0 {
			continue
		}
		if ways[0].Variant == "" {
			ways = append(ways, e.tempting(event.Name)...)
		}
		t.Run(event.Name+"_told_twice", func(t *testing.T) {
			t.Parallel()
			defer e.turn(event.Name)()
			ways := append(ways, e.misses(t.Context(), e.event(event.Name), state)...)
			for i, c := range ways {
				if c.Skip != "" {
					c = e.settled(t.Context(), c)
				}
				if c.Skip != "" {
					untested(t, c.Skip)
				}
				call := RaceCall{Event: c.Event, Params: c.Params}
				o := overlap{e: e, t: t, race: Race{In: state, Given: c.Given, First: call, Second: call, Outcome: fsm.Replayed}}
				if i == 0 {
					o.run("committed", true)
				}
				o.elsewhere = true
				if i == 0 {
					o.run("of another row, committed", true)
					o.run("of another row, rolled back", false)
				}
				o.wrong = true
				o.run("of another row, committed, with a wrong version and the values of "+strconv.Quote(c.Variant), true)
			}
		})
	}
}

// misses are calls that compensate although they only just do: the values of each
// guarded transition of the state, but for one of those that its guard reads. A call
// that was raced is judged once more, by the row alone, to tell stale from raced;
// there a guard that lost a part of itself shows in no other way.
func (e *engine) misses(ctx context.Context, event *Event, state string) []Case {
	var list []Case
	for _, c := range e.m.Cases {
		if c.Event != event.Name || c.Outcome != fsm.Applied || c.Variant == "" || strings.Contains(c.Variant, " ") || !slices.Contains(c.In, state) {
			continue
		}
		if c.Skip != "" {
			c = e.settled(ctx, c)
		}
		for _, g := range e.read(event, state) {
			for _, v := range around(g, []Values{c.Given, c.Params}[g.into][g.name]) {
				miss := Case{Event: c.Event, In: []string{state}, Variant: c.Variant + " with " + g.name + " " + v, Given: maps.Clone(c.Given), Params: maps.Clone(c.Params), Outcome: fsm.Compensated}
				into := &miss.Given
				if g.into == 1 {
					into = &miss.Params
				}
				if *into == nil {
					*into = Values{}
				}
				(*into)[g.name] = v
				if e.suitsIn(ctx, miss, state) == nil {
					list = append(list, miss)
				}
			}
		}
	}
	return list
}
