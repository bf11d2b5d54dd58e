package gengo

import (
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// callComment says what the call does in each state.
func (g *generator) callComment(f *genfile.File, e *model.Event) {
	text := "fires " + e.Name + " on the row."
	if e.Describe != "" {
		text += " " + sentence(e.Describe)
	}
	for _, t := range g.m.Moves(e) {
		text += "\n\nApplied: " + model.StateNames(t.From) + " → " + t.To.Name
		if t.Guard != nil {
			text += " when " + guardText(t.Guard)
		}
		text += "."
	}
	decisions := []struct {
		d    model.Decision
		word string
	}{
		{model.Compensate, "Compensated"}, {model.Replay, "Replayed"}, {model.Ignore, "Ignored"},
		{model.Reject, "Rejected"}, {model.GuardFailed, "GuardFailed"},
	}
	for _, d := range decisions {
		var states []*model.State
		otherwise := ""
		for _, c := range e.Cells {
			if !c.Closed() && c.Otherwise == d.d {
				states = append(states, c.State)
				if c.Moves() {
					otherwise = "otherwise, "
				}
			}
		}
		if len(states) > 0 {
			text += "\n\n" + d.word + ": " + otherwise + "in " + model.StateNames(states) + "."
		}
	}
	if len(e.Identity) > 0 {
		text += "\n\nThe identity is answered before any state: Replayed, or Mismatched."
	}
	f.Comment(e.Ident, text)
}

func sentence(text string) string {
	text = genfile.Capital(strings.TrimSpace(text))
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

func guardText(g *model.Guard) string {
	switch {
	case g.Describe != "":
		return g.Describe
	case g.Name != "":
		return g.Name
	}
	return g.SQL.Source
}

// guarded reports whether the event can end in GuardFailed.
func (g *generator) guarded(e *model.Event) bool {
	for _, c := range e.Cells {
		if !c.Closed() && c.Otherwise == model.GuardFailed {
			return true
		}
	}
	return false
}

// guards renders the function that names the guards tried in a state.
func (g *generator) guards(f *genfile.File, e *model.Event) {
	guard := f.Import(RuntimePath, "Guard")
	f.P("func ", infoVar(e.Ident), "Guards(s State) []", guard, " {")
	f.P("switch s {")
	for _, c := range e.Cells {
		if c.Closed() || c.Otherwise != model.GuardFailed {
			continue
		}
		f.P("case ", stateConst(c.State), ":")
		f.P("return []", guard, "{")
		for _, t := range c.Transitions {
			f.P("{Name: ", strconv.Quote(t.Guard.Name), ", Describe: ", strconv.Quote(guardText(t.Guard)), "},")
		}
		f.P("}")
	}
	f.P("}")
	f.P("return nil")
	f.P("}")
	f.P()
}

// writes reports whether a cell of the event writes something.
func writes(e *model.Event) bool {
	for _, c := range e.Cells {
		if c.Moves() || c.Compensates() {
			return true
		}
	}
	return false
}

// uses reports whether the event's query has the parameter.
func (g *generator) uses(e *model.Event, p *model.Param) bool {
	in := func(e *model.Expr) bool {
		if e == nil {
			return false
		}
		for _, q := range e.Params() {
			if q == p {
				return true
			}
		}
		return false
	}
	emits := false
	for _, c := range e.Cells {
		emits = emits || c.Compensates() && len(c.Emit) > 0
	}
	for _, t := range g.m.Moves(e) {
		emits = emits || len(t.Emit) > 0
		if t.Guard != nil && in(t.Guard.SQL) {
			return true
		}
		for _, a := range t.Set {
			if in(a.Value) {
				return true
			}
		}
	}
	if emits || in(p.Check) {
		return true
	}
	if !writes(e) {
		return false
	}
	for _, q := range append(append([]*model.Param{}, e.Identity...), e.Fingerprint...) {
		if q == p {
			return true
		}
	}
	return false
}
