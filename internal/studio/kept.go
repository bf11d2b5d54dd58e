package studio

import (
	"slices"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// kept is what a picture shows alone: Kept is "state" or "event", and KeptName its
// name; both are empty for nothing.
type kept struct {
	Kept, KeptName string
	// marks draw it so; nil for nothing.
	marks *gensvg.Marks
}

// keptOf is the state or event that the address names: a page without a script shows
// it, too, and one with a script goes on from there.
func (v *visit) keptOf(m *model.Machine) kept {
	query := v.URL.Query()
	state, event := m.State(query.Get("state")), m.Event(query.Get("event"))
	k := kept{marks: &gensvg.Marks{Whole: "picked"}}
	switch {
	case state != nil:
		k.Kept, k.KeptName = "state", state.Name
		k.marks.Arc = func(e *picture.Edge, _ picture.Arc) string { return on(e.From == state || e.To == state) }
		k.marks.Edge = func(e *picture.Edge) string { return on(e.From == state || e.To == state) }
	case event != nil:
		k.Kept, k.KeptName = "event", event.Name
		k.marks.Arc = func(_ *picture.Edge, a picture.Arc) string { return on(a.Transition.Event == event) }
		k.marks.Edge = func(e *picture.Edge) string {
			return on(slices.ContainsFunc(e.Arcs, func(a picture.Arc) bool { return a.Transition.Event == event }))
		}
	default:
		return kept{}
	}
	drawn := picture.Of(m)
	k.marks.State = func(s *model.State) string {
		return on(s == state || slices.ContainsFunc(drawn.Edges, func(e *picture.Edge) bool {
			return (e.From == s || e.To == s) && k.marks.Edge(e) != ""
		}))
	}
	return k
}

func on(is bool) string {
	if is {
		return "on"
	}
	return ""
}
