package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// waiver is one rule that is not to be told of one part of a definition.
type waiver struct {
	code   diag.Code
	reason string
	pos    diag.Position
	// from and to bound the part: what stands at from or after it, and before to.
	from, to diag.Position
	used     bool
}

// before reports whether p stands before q in one file.
func before(p, q diag.Position) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// end is behind every place of a file.
var end = diag.Position{Line: 1 << 30}

// waivers reads every waive key and takes out of the problems what is waived,
// last of all, so that nothing is waived before it was found.
func (c *checker) waivers(top *syntax.Mapping) {
	var waivers []*waiver
	starts := c.parts(top)
	for i, p := range starts {
		to := end
		if i+1 < len(starts) {
			to = starts[i+1].pos
		}
		for _, fields := range p.fields {
			waivers = append(waivers, c.readWaivers(fields, p.pos, to)...)
		}
	}
	waivers = append(waivers, c.readWaivers(top, diag.Position{}, end)...)
	found := c.problems.Sorted()
	kept := &diag.List{}
	for _, p := range found {
		by := c.waivedBy(p, waivers)
		if by == nil {
			kept.Add(p)
			continue
		}
		kept.Waive(p, by.reason)
	}
	c.problems = kept
	for _, w := range waivers {
		if !w.used && !c.gaps {
			c.warnf(w.pos, CodeUnusedWaiver, "nothing is found of %s here, so there is nothing to waive; %s", w.code, elsewhere(w.code, kept, found))
		}
	}
}

// alsoWaivedAt lets a waiver count for a problem in the parts at other places.
func (c *checker) alsoWaivedAt(p diag.Problem, places ...diag.Position) {
	c.further[p] = append(c.further[p], places...)
}

// waivedBy returns the waiver of a problem, nil for none. Waivers in several of
// the parts that it concerns are all used; that of the whole definition is not
// where one of them is there.
func (c *checker) waivedBy(p diag.Problem, waivers []*waiver) *waiver {
	var first *waiver
	for _, w := range waivers {
		if w.code != p.Code || first != nil && w.to == end && w.from == (diag.Position{}) {
			continue
		}
		here := func(at diag.Position) bool { return !before(at, w.from) && before(at, w.to) }
		if here(p.Pos) || slices.ContainsFunc(c.further[p], here) {
			w.used = true
			if first == nil {
				first = w
			}
		}
	}
	return first
}

// elsewhere says where a rule finds what is not waived, or else what is.
func elsewhere(code diag.Code, kept *diag.List, found []diag.Problem) string {
	lines := func(problems []diag.Problem) string {
		var lines []string
		for _, p := range problems {
			if line := strconv.Itoa(p.Pos.Line); p.Code == code && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		if len(lines) > 1 {
			return string(code) + " is found at lines " + some(lines)
		} else if len(lines) == 1 {
			return string(code) + " is found at line " + lines[0]
		}
		return ""
	}
	if open := lines(kept.Sorted()); open != "" {
		return open + ", so move it there, or delete it"
	}
	if waived := lines(found); waived != "" {
		return waived + ", and waived there, so delete it"
	}
	return "delete it"
}

// part is a place where a part of the definition begins, with the mappings in
// which it may waive rules.
type part struct {
	pos    diag.Position
	fields []*syntax.Mapping
}

// parts lists the states, guards, events and transitions, and the sections
// around them, by place.
func (c *checker) parts(top *syntax.Mapping) []part {
	var parts []part
	for _, e := range top.Entries {
		parts = append(parts, part{pos: e.Key.Pos})
		switch e.Key.Text {
		case "states", "guards", "events":
			if m := e.Value.AsMapping(); m != nil {
				for _, inner := range m.Entries {
					parts = append(parts, part{inner.Key.Pos, []*syntax.Mapping{inner.Value.AsMapping()}})
				}
			}
		case "transitions":
			if list := e.Value.AsSequence(); list != nil {
				for _, item := range list.Items {
					fields := item.AsMapping()
					parts = append(parts, part{item.Pos, []*syntax.Mapping{fields, fields.Get("guard").AsMapping()}})
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch {
		case before(a.pos, b.pos):
			return -1
		case before(b.pos, a.pos):
			return 1
		}
		return 0
	})
	return parts
}

// readWaivers reads the waive key of one mapping, nil for a part without.
func (c *checker) readWaivers(fields *syntax.Mapping, from, to diag.Position) []*waiver {
	n := fields.Get("waive")
	if n.IsNull() {
		return nil
	}
	entries := c.mapping(n, "\"waive\"")
	if entries == nil {
		return nil
	}
	var waivers []*waiver
	for _, e := range entries.Entries {
		w := &waiver{code: diag.Code(e.Key.Text), pos: e.Key.Pos, from: from, to: to}
		known := Rules()
		i := slices.IndexFunc(known, func(r diag.Rule) bool { return r.Code == w.code })
		switch s := e.Value.AsScalar(); {
		case i < 0 && e.Value.IsNull() && !strings.HasPrefix(e.Key.Text, "FSM"):
			c.errorf(e.Key.Pos, CodeWaiver, "there is no rule %s; inside { } YAML ends a value at a comma, so quote the reason before it", quote(e.Key.Text))
		case i < 0:
			c.errorf(e.Key.Pos, CodeWaiver, "there is no rule %s for definitions; fsmgen rules lists them", quote(e.Key.Text))
		case !known[i].Waivable:
			c.errorf(e.Key.Pos, CodeWaiver, "rule %s cannot be waived: what it finds has no meaning, or loses money; mend it", w.code)
		case s == nil || e.Value.IsNull() || strings.TrimSpace(s.Text) == "":
			c.errorf(e.Key.Pos, CodeWaiver, "the waiver of %s has no reason; write one, for whoever reads this next", w.code)
		default:
			w.reason = strings.TrimSpace(s.Text)
			waivers = append(waivers, w)
		}
	}
	return waivers
}
