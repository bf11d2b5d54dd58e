package suite

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// caseID joins the machine, the criterion and what the case tests. The parts
// must be free of slashes of their own: see part.
func caseID(m *model.Machine, criterion string, parts ...string) string {
	return strings.Join(append([]string{m.Name, criterion}, parts...), "/")
}

// escapes are for the characters that hold an ID together, so that the state
// "a/b" with the event "c" is not the state "a" with the event "b/c".
var escapes = strings.NewReplacer("%", "%25", "/", "%2F", "+", "%2B")

// part is the name of a state, event or variant as a part of an ID.
func part(name string) string { return escapes.Replace(name) }

// cellID is a cell as a part of an ID: PENDING/pay, and with the variant behind
// it for a cell that has several ways.
func cellID(c *model.Cell, variant string) string {
	id := part(c.State.Name) + "/" + part(c.Event.Name)
	if variant != "" {
		id += "/" + part(variant)
	}
	return id
}

// id is the arc as a part of an ID.
func (a arc) id() string { return cellID(a.cell, variantName(a.cell, a.at)) }

// ids joins arcs that are taken one after another.
func (g *graph) ids(arcs []int, separator string) string {
	parts := make([]string, len(arcs))
	for i, a := range arcs {
		parts[i] = g.arcs[a].id()
	}
	return strings.Join(parts, separator)
}
