package suite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// DefaultLimit is how many cases a suite may have where the caller does not say.
const DefaultLimit = 100_000

// stepsPerCase is how many steps a suite may have for each case of its limit.
const stepsPerCase = 10

// longestSwitch is the largest K of n-switch=K.
const longestSwitch = 10

// Names returns the names of the suites, in the order in which they are
// explained to people. n-switch=K stands for each K from 0 to 10.
func Names() []string {
	return []string{"all-cells", "0-switch", "1-switch", "n-switch=K", "n-plus", "tour", "tour=closed", "walks", "races", "guards"}
}

// Make makes the suite of that name, whole or not at all. limit is how many
// cases it may have, and ten times as many steps; 0 stands for DefaultLimit.
//
// Errors are *UnknownSuiteError for a name that Names does not have,
// *LimitError for a suite above the limit, of which nothing is made, and
// *NoTourError for a tour that the machine does not have. "2-switch" is another
// name of "n-switch=2", "tour=open" of "tour".
func Make(m *model.Machine, name string, limit int) (*Suite, error) {
	return For(m).Make(name, limit)
}

// Maker makes several suites of one machine, which takes less time than to make
// each by itself: what was worked out for one serves the next. It is not for
// concurrent use.
type Maker struct{ graph *graph }

// For returns a maker for a machine.
func For(m *model.Machine) *Maker { return &Maker{graphOf(m)} }

// Make is the function Make.
func (k *Maker) Make(name string, limit int) (*Suite, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	g := k.graph
	switch name {
	case "n-plus":
		leaves, steps := g.leafSizes()
		sneak := g.sneakSize()
		if err := within(name, limit, leaves+sneak, steps+sneak); err != nil {
			return nil, err
		}
		return nPlus(g), nil
	case "tour", "tour=open":
		return makeTour(g, "tour", g.fewestWalks().openTour(), limit)
	case "tour=closed":
		return makeTour(g, name, g.closedTour(), limit)
	case "walks":
		p := g.fewestWalks()
		if err := within(name, limit, p.walks, p.steps()); err != nil {
			return nil, err
		}
		return walks(p), nil
	case "all-cells":
		return k.whole(name, limit, int64(len(g.machine.States)*len(g.machine.Events)), func() *Suite { return allCells(g.filler) })
	case "guards":
		return k.whole(name, limit, guardWays(g.machine), func() *Suite { return guardSuite(g.filler) })
	case "races":
		return k.whole(name, limit, raceOrders(g.machine), func() *Suite { return raceSuite(g.filler) })
	}
	return makeSwitches(g, name, limit)
}

// whole makes a suite of which it is known how many cases it has at least. One
// that grows above the limit is given up, and its error says no more than that.
func (k *Maker) whole(name string, limit int, least int64, make func() *Suite) (*Suite, error) {
	if err := within(name, limit, least, 0); err != nil {
		return nil, err
	}
	k.graph.filler.limit = limit
	defer func() { k.graph.filler.limit = 0 }()
	s := make()
	if err := within(name, limit, int64(len(s.Cases)), 0); err != nil {
		return nil, err
	}
	return s, nil
}

func makeTour(g *graph, name string, p *plan, limit int) (*Suite, error) {
	if p == nil {
		return nil, g.noTour(name == "tour=closed")
	}
	if err := within(name, limit, 1, p.steps()); err != nil {
		return nil, err
	}
	return tour(p, name), nil
}

// makeSwitches reads 0-switch, 1-switch, n-switch=K and their like.
func makeSwitches(g *graph, name string, limit int) (*Suite, error) {
	text, long := strings.CutPrefix(name, "n-switch=")
	if !long {
		var short bool
		if text, short = strings.CutSuffix(name, "-switch"); !short {
			return nil, unknown(name)
		}
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 0 || k > longestSwitch || strconv.Itoa(k) != text {
		return nil, unknown(name)
	}
	cases := g.sequences(k + 1)
	if err := within(switchName(k+1), limit, cases, times(cases, int64(k+1))); err != nil {
		return nil, err
	}
	return switches(g, k+1), nil
}

// UnknownSuiteError says that there is no suite of a name.
type UnknownSuiteError struct {
	Name string
	// Nearest is the one that was most likely meant, or empty.
	Nearest string
	Names   []string
}

func (e *UnknownSuiteError) Error() string {
	text := fmt.Sprintf("no suite is called %q", e.Name)
	switch e.Nearest {
	case "":
	case "n-switch=K":
		text += fmt.Sprintf("; n-switch wants a whole number from 0 to %d, as in n-switch=2", longestSwitch)
	default:
		text += fmt.Sprintf("; did you mean %s?", e.Nearest)
	}
	return fmt.Sprintf("%s (there are %s, with K from 0 to %d)", text, strings.Join(e.Names, ", "), longestSwitch)
}

func unknown(name string) error {
	names := Names()
	nearest := diag.Nearest(name, names)
	if strings.HasPrefix(name, "n-switch") {
		nearest = "n-switch=K"
	}
	return &UnknownSuiteError{name, nearest, names}
}

// LimitError says that a suite would be larger than was asked for. Nothing of
// it was made: a part of a suite proves nothing.
type LimitError struct {
	Suite        string
	Cases, Steps int64
	// Limit is how many cases it may have; ten times as many steps may it have.
	Limit int
}

func (e *LimitError) Error() string {
	if e.Cases > int64(e.Limit) {
		return fmt.Sprintf("the suite %s would have %d cases, more than the limit of %d", e.Suite, e.Cases, e.Limit)
	}
	return fmt.Sprintf("the suite %s would have %d steps, more than %d for each of the %d cases of the limit", e.Suite, e.Steps, stepsPerCase, e.Limit)
}

func within(name string, limit int, cases, steps int64) error {
	if cases > int64(limit) || steps > times(int64(limit), stepsPerCase) {
		return &LimitError{name, cases, steps, limit}
	}
	return nil
}
