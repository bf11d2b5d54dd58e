package suite

import "github.com/pawl-go/pawl/internal/model"

// AllCells is the suite that looks at every cell once: each of its ways, in one
// case each. Its items are the cells, states × events of them, then the ways of
// cells that have several, and what a call is told when it comes again or
// expects a version:
//
//   - wherever a fact is left, the same fact told again (Replayed);
//   - for each event and what became of its fact, the same identity with another
//     fingerprint, and of another row (Mismatched), whatever the cell, since a
//     known identity is answered before any cell is looked at;
//   - for each transition, a wrong expected version (Stale) and then the right one;
//   - for each event and decision, a wrong version that does not matter.
func AllCells(m *model.Machine) *Suite { return allCells(newFiller(m)) }

func allCells(f *filler) *Suite {
	c := &cells{builder: newBuilder(f, "all-cells"), told: map[toldOf]bool{}}
	each(f.machine, func(cell *model.Cell) {
		c.at[named(cell)] = c.item(ItemCell, named(cell), ItemStep{State: cell.State, Event: cell.Event})
	})
	each(f.machine, c.cell)
	return c.done()
}

type cells struct {
	*builder
	// told are the events whose facts, or still cells, have been looked at.
	told map[toldOf]bool
}

type toldOf struct {
	event   *model.Event
	outcome Outcome
}

func (c *cells) cell(cell *model.Cell) {
	variants := Variants(cell)
	for _, v := range variants {
		covers := []int{c.at[named(cell)]}
		if len(variants) > 1 {
			covers = append(covers, c.item(ItemGuard, named(cell, v.Name), of(cell, v)))
		}
		if !c.add(path(cell, v.Name), []Step{v.step(cell)}, nil, covers...) {
			continue
		}
		if v.Fact {
			c.fact(cell, v)
		}
		c.version(cell, v)
	}
}

// fact tells the fact of a call again.
func (c *cells) fact(cell *model.Cell, v Variant) {
	first := v.step(cell)
	again := Step{From: first.To, Event: cell.Event, Repeat: true}.still(Replayed)
	if cell.Event.ExpectVersion {
		// As a caller does who heard no answer.
		again.Version = RightVersion
		if first.Moved() {
			again.Version = WrongVersion
		}
	}
	c.add(path(cell, v.Name, "again"), []Step{first, again}, nil, c.item(ItemFact, named(cell, v.Name, "again"), of(cell, v)))

	key := toldOf{cell.Event, v.Outcome}
	if c.told[key] {
		return
	}
	c.told[key] = true
	if len(cell.Event.Fingerprint) > 0 {
		differs := again.still(Mismatched)
		c.add(path(cell, v.Name, "other fingerprint"), []Step{first, differs}, nil,
			c.item(ItemFact, cell.Event.Name+" "+string(v.Outcome)+" other fingerprint", of(cell, v)))
	}
	elsewhere := again
	elsewhere.From, elsewhere.Other = cell.State, true
	if cell.Event.ExpectVersion {
		elsewhere.Version = RightVersion
	}
	c.add(path(cell, v.Name, "other row"), []Step{first, elsewhere.still(Mismatched)}, nil,
		c.item(ItemFact, cell.Event.Name+" "+string(v.Outcome)+" other row", of(cell, v)))
}

// version makes the call with a version that is not the row's. A transition is
// Stale with it and taken with the right one; the other decisions never look.
func (c *cells) version(cell *model.Cell, v Variant) {
	wrong := v.step(cell)
	wrong.Version = WrongVersion
	if v.Outcome == Applied {
		right := v.step(cell)
		right.Version = RightVersion
		right.Repeat = len(cell.Event.Identity) > 0 // Stale has left no fact
		c.add(path(cell, v.Name, "stale"), []Step{wrong.still(Stale), right}, nil, c.item(ItemVersion, named(cell, v.Name), of(cell, v)))
		return
	}
	key := toldOf{cell.Event, "version " + v.Outcome}
	if !c.told[key] {
		c.told[key] = true
		c.add(path(cell, v.Name, "any version"), []Step{wrong}, nil, c.item(ItemVersion, cell.Event.Name+" "+string(v.Outcome), of(cell, v)))
	}
}
