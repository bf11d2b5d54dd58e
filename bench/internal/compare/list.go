package compare

import (
	"slices"
	"time"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/result"
)

// Planned is a comparison to run.
type Planned struct {
	Load       result.Load
	Contenders []contender.Contender
}

// Near and Away are the distances, in a round trip's time.
const (
	Near = time.Duration(0)
	Away = time.Millisecond
)

// The loads that goals are about.
var (
	FirstNear   = result.Load{Kind: First, Event: string(contender.Paid), Callers: 8, Delay: Near}
	FirstAway   = result.Load{Kind: First, Event: string(contender.Paid), Callers: 8, Delay: Away}
	FirstMany   = result.Load{Kind: First, Event: string(contender.Paid), Callers: 512, Delay: Near}
	PayMany     = result.Load{Kind: First, Event: string(contender.Pay), Callers: 512, Delay: Near}
	ToldAgain   = result.Load{Kind: Duplicates, Event: string(contender.Paid), Callers: 8, Delay: Near}
	StormNear   = result.Load{Kind: Storm, Event: string(contender.Paid), Callers: 64, Delay: Near}
	OneHotOrder = result.Load{Kind: Hot, Event: string(contender.Paid), Callers: 64, Delay: Near}
)

// Plan is all comparisons, or, quick, those that goals are about and one storm.
func Plan(quick bool) []Planned {
	var plan []Planned
	for _, delay := range []time.Duration{Near, Away} {
		for _, callers := range []int{1, 8, 64, 512} {
			plan = append(plan, Planned{result.Load{Kind: First, Event: string(contender.Paid), Callers: callers, Delay: delay}, first(callers)})
		}
	}
	plan = append(plan, Planned{PayMany, []contender.Contender{contender.Bare(), contender.Hand(), contender.Usual(), contender.Pawl(), contender.PawlCoalesced()}})
	for _, callers := range []int{1, 8, 64} {
		plan = append(plan, Planned{result.Load{Kind: Duplicates, Event: string(contender.Paid), Callers: callers}, []contender.Contender{
			contender.Known(), contender.Usual(), contender.Retry(), contender.Pawl(), contender.PawlTx(), contender.PawlCoalesced(),
		}})
	}
	for _, delay := range []time.Duration{Near, Away} {
		load := StormNear
		load.Delay = delay
		plan = append(plan, Planned{load, []contender.Contender{
			contender.Usual(), contender.Retry(), contender.Looplab(), contender.Stateless(), contender.Pawl(), contender.PawlTx(), contender.PawlCoalesced(),
		}})
		load = OneHotOrder
		load.Delay = delay
		plan = append(plan, Planned{load, []contender.Contender{
			contender.Usual(), contender.Retry(), contender.Looplab(), contender.Stateless(), contender.Pawl(), contender.PawlTx(), contender.PawlCoalesced(),
		}})
	}
	if !quick {
		return plan
	}
	loads := []result.Load{FirstNear, FirstAway, FirstMany, PayMany, ToldAgain, StormNear, OneHotOrder}
	return slices.DeleteFunc(plan, func(p Planned) bool { return !slices.Contains(loads, p.Load) })
}

// first is who is compared by first deliveries. A batch needs no more than a few
// callers.
func first(callers int) []contender.Contender {
	all := []contender.Contender{
		contender.Bare(), contender.Hand(), contender.Usual(), contender.Retry(), contender.Looplab(), contender.Stateless(),
		contender.River(), contender.DBOS(), contender.Pawl(), contender.PawlTx(), contender.PawlCoalesced(),
	}
	if callers <= 8 {
		all = append(all, contender.PawlBatch())
	}
	return all
}
