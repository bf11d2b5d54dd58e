package example

import (
	"cmp"
	"slices"

	"github.com/pawl-go/pawl/internal/logic"
)

// hunt looks for the values of one group that people like best.
type hunt struct {
	finder *Finder
	scene  *scene
	group  group
	vars   []logic.Var
	asks   []logic.Ask
}

// run tries the natural values, all of them at first, then one variable after
// another as far as the rest can still be met.
func (h *hunt) run() solution {
	for _, place := range h.group.places {
		h.vars = append(h.vars, h.scene.symbols[place].Var)
	}
	for _, c := range h.group.clauses {
		h.asks = append(h.asks, c.ask)
	}
	fixed := map[int]string{}
	for i := range h.vars {
		if ways := h.ways(i); len(ways) > 0 {
			fixed[i] = ways[0]
		}
	}
	best := h.asked(fixed)
	if best.Answer != logic.Yes {
		if best, fixed = h.better(); best.Answer != logic.Yes {
			return solution{answer: best.Answer, why: best.Why}
		}
	}
	out := solution{answer: logic.Yes, values: make([]string, len(h.vars))}
	for i, v := range h.vars {
		found, usual := valueOf(best, v.Name), first(h.scene.symbols[h.group.places[i]])
		if v.Kind == logic.Other && found != "NULL" {
			found = usual // nothing that is understood tells its values apart
		}
		out.values[i] = cmp.Or(fixed[i], found, usual)
	}
	return out
}

// asked asks for an example in which some variables have these values.
func (h *hunt) asked(fixed map[int]string, more ...logic.Ask) logic.Finding {
	if h.finder.left--; h.finder.left < 0 {
		return logic.Finding{Answer: logic.NotDecided, Why: "the machine has too many guards to look for examples of all"}
	}
	vars := slices.Clone(h.vars)
	for i := range vars {
		if literal, is := fixed[i]; is {
			vars[i].Among = []string{plain(literal)}
		}
	}
	return h.finder.reader.Example(vars, append(slices.Clone(h.asks), more...))
}

// ways are the natural values of a variable that package logic can be told.
func (h *hunt) ways(i int) []string {
	if h.vars[i].Kind == logic.Other {
		return nil // no literal of an unknown type is understood
	}
	return h.scene.symbols[h.group.places[i]].natural
}

// better finds any example, best one without negative numbers, and makes it more
// natural, a variable at a time.
func (h *hunt) better() (best logic.Finding, fixed map[int]string) {
	var positive []logic.Ask
	for _, v := range h.vars {
		if v.Kind == logic.Int || v.Kind == logic.Decimal || v.Kind == logic.Float {
			positive = append(positive, logic.Ask{SQL: identifier(v.Name) + " >= 0"})
		}
	}
	best = h.asked(nil, positive...)
	if best.Answer != logic.Yes && len(positive) > 0 {
		positive = nil
		best = h.asked(nil)
	}
	if best.Answer != logic.Yes {
		return best, nil
	}
	fixed = map[int]string{}
	for i := range h.vars {
		for _, way := range h.ways(i) {
			fixed[i] = way
			if way == valueOf(best, h.vars[i].Name) {
				break // it has this value already
			}
			if f := h.asked(fixed, positive...); f.Answer == logic.Yes {
				best = f
				break
			}
			delete(fixed, i)
		}
	}
	return best, fixed
}

// valueOf returns the value of a variable in an example, as SQL.
func valueOf(f logic.Finding, name string) string {
	for _, v := range f.Witness {
		if v.Name == name {
			return v.SQL
		}
	}
	return ""
}
