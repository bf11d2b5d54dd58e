// Package inmemory compares what needs no database: which state comes next, and
// what may happen now.
package inmemory

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	looplab "github.com/looplab/fsm"
	"github.com/qmuntal/stateless"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/gen/order"
)

// question is one way to ask.
type question struct {
	name string
	// ask asks b.N times.
	ask func(b *testing.B)
}

// Answers is where the answers go, so that no compiler leaves the questions out.
var Answers struct {
	State order.State
	Truth bool
	Sum   int
}

// asked are the states and events of one run through an order's life, in turn.
var asked = [8]struct {
	state order.State
	event order.Event
}{
	{order.StatePending, order.EventPay}, {order.StatePaying, order.EventPaymentSucceeded}, {order.StatePaid, order.EventShip},
	{order.StateShipped, order.EventReceive}, {order.StateCompleted, order.EventRefund}, {order.StateRefunding, order.EventRefundSucceeded},
	{order.StatePaid, order.EventPay}, {order.StatePending, order.EventShip},
}

// arrayOf is a plain array: what somebody writes who numbers states and events.
var arrayOf = func() (next [8][12]uint8) {
	for s, state := range order.States() {
		for e, event := range order.Events() {
			next[s][e] = 255
			for n, to := range order.States() {
				if got := order.Next(state, event); len(got) > 0 && got[0] == to {
					next[s][e] = uint8(n)
				}
			}
		}
	}
	return next
}()

// numbered are those that are asked, as somebody says it who numbers them.
var numbered = func() (pairs [len(asked)]struct{ state, event uint8 }) {
	for i, at := range asked {
		pairs[i].state = uint8(slices.Index(order.States(), at.state))
		pairs[i].event = uint8(slices.Index(order.Events(), at.event))
	}
	return pairs
}()

// looplabs are machines in the states that are asked, made beforehand: a question
// includes what the machine does for an answer, its lock among it, and not how it
// comes into its state.
func looplabs() (machines [len(asked)]*looplab.FSM) {
	for i, at := range asked {
		machines[i] = looplab.NewFSM(string(at.state), contender.LooplabEvents(), nil)
	}
	return machines
}

// statelesses are the same of qmuntal/stateless, and the events as it takes them,
// so that no question includes an allocation for one.
func statelesses() (machines [len(asked)]*stateless.StateMachine, triggers [len(asked)]stateless.Trigger) {
	for i, at := range asked {
		machines[i], triggers[i] = stateless.NewStateMachine(string(at.state)), string(at.event)
		contender.ConfigureStateless(machines[i])
	}
	return machines, triggers
}

// questions all ask about the same states and events, in the same turn.
func questions() []question {
	return []question{
		{goal.NextTime, func(b *testing.B) {
			for i := range b.N {
				at := &asked[i&7]
				if next := order.Next(at.state, at.event); len(next) > 0 {
					Answers.State = next[0]
				}
			}
		}},
		{"Allowed", func(b *testing.B) {
			for i := range b.N {
				Answers.Sum += len(order.Allowed(asked[i&7].state))
			}
		}},
		{"next in a plain array", func(b *testing.B) {
			for i := range b.N {
				at := &numbered[i&7]
				Answers.Sum += int(arrayOf[at.state][at.event])
			}
		}},
		{"looplab/fsm, Can", func(b *testing.B) {
			machines := looplabs()
			b.ResetTimer()
			for i := range b.N {
				Answers.Truth = machines[i&7].Can(string(asked[i&7].event))
			}
		}},
		{"looplab/fsm, AvailableTransitions", func(b *testing.B) {
			machines := looplabs()
			b.ResetTimer()
			for i := range b.N {
				Answers.Sum += len(machines[i&7].AvailableTransitions())
			}
		}},
		{"looplab/fsm, a machine and Event", func(b *testing.B) {
			events := contender.LooplabEvents()
			for i := range b.N {
				at := &asked[i&7]
				Answers.Truth = looplab.NewFSM(string(at.state), events, nil).Event(context.Background(), string(at.event)) == nil
			}
		}},
		{"qmuntal/stateless, CanFire", func(b *testing.B) {
			machines, triggers := statelesses()
			b.ResetTimer()
			for i := range b.N {
				Answers.Truth, _ = machines[i&7].CanFire(triggers[i&7])
			}
		}},
		{"qmuntal/stateless, PermittedTriggers", func(b *testing.B) {
			machines, _ := statelesses()
			b.ResetTimer()
			for i := range b.N {
				permitted, _ := machines[i&7].PermittedTriggers()
				Answers.Sum += len(permitted)
			}
		}},
	}
}

// Run asks all of them in shuffled rounds.
func Run(random *rand.Rand, turns int, each time.Duration) ([]result.Figure, error) {
	testing.Init()
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		return nil, err
	}
	all := questions()
	allocations := make([][]float64, len(all))
	nanos, err := rounds.Run(random, turns, len(all), func(_, i int) (float64, error) {
		r := testing.Benchmark(all[i].ask)
		if r.N == 0 {
			return 0, fmt.Errorf("%s was not measured", all[i].name)
		}
		allocations[i] = append(allocations[i], float64(r.MemAllocs)/float64(r.N))
		return float64(r.T.Nanoseconds()) / float64(r.N), nil
	})
	if err != nil {
		return nil, err
	}
	var figures []result.Figure
	for i, q := range all {
		figures = append(figures,
			result.Figure{Name: q.name, Unit: "ns", Samples: nanos[i]},
			result.Figure{Name: q.name + ", allocations", Samples: allocations[i]})
	}
	return figures, nil
}
