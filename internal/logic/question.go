package logic

import (
	"slices"
	"strings"
)

// asked is one part of a question: a condition that shall have one of these
// truth values.
type asked = want

// report asks every question about the guards.
func (a *analysis) report(guards []Guard) Report {
	n := len(guards)
	steps := share(1 + 3*n + n*(n-1)/2)
	var out Report
	var none []asked
	for i, g := range a.guards {
		none = append(none, asked{g, isFalse | isUnknown})
		possible, example := a.decide([]asked{{g, isTrue}}, steps)
		never := opposite(possible)
		shadowed := Finding{Answer: No}
		if never.Answer != Yes && i > 0 {
			alone := append(slices.Clone(none[:i]), asked{g, isTrue})
			if example == nil || !a.serves(*example, alone) {
				f, _ := a.decide(alone, steps)
				shadowed = opposite(f)
			}
		}
		out.Never, out.Shadowed = append(out.Never, never), append(out.Shadowed, shadowed)
	}
	for i := range guards {
		for j := i + 1; j < n; j++ {
			if guards[i].SQL == "" || guards[j].SQL == "" || out.Never[i].Answer == Yes || out.Never[j].Answer == Yes {
				continue
			}
			f, _ := a.decide([]asked{{a.guards[i], isTrue}, {a.guards[j], isTrue}}, steps)
			if f.Answer != No {
				out.Overlaps = append(out.Overlaps, Overlap{A: i, B: j, Finding: f})
			}
		}
	}
	out.Gap, _ = a.decide(none, steps)
	out.Null = a.nulls(guards, none, steps)
	return out
}

// nulls asks about the guards that are NULL where the first empty one is taken.
func (a *analysis) nulls(guards []Guard, none []asked, steps int) []Finding {
	out := make([]Finding, len(guards))
	last := slices.Index(guards, Guard{})
	for i := range max(last, 0) {
		ask := slices.Clone(none[:last])
		ask[i].set = isUnknown
		out[i], _ = a.decide(ask, steps)
	}
	return out
}

// serves reports whether an example of another question is one of this too.
func (a *analysis) serves(w world, ask []asked) bool {
	assume, _ := a.relevant(ask)
	return w.confirms(append(assume, ask...), new(doubts))
}

// opposite turns "there is a case" into "there is none".
func opposite(f Finding) Finding {
	switch f.Answer {
	case Yes:
		return Finding{Answer: No}
	case No:
		return Finding{Answer: Yes}
	}
	return f
}

// decide says whether values exist for which all that is asked holds, and the
// assumptions too, with an example.
func (a *analysis) decide(ask []asked, steps int) (Finding, *world) {
	assume, without := a.relevant(ask)
	whole := append(slices.Clone(ask), assume...)
	var f Finding
	var example *world
	var why doubts
	accept := func(w world) bool {
		if !w.confirms(whole, &why) {
			return false
		}
		witness, ok := w.witness(without)
		if !ok {
			why.unwritable = true
			return false
		}
		f, example = Finding{Answer: Yes, Witness: witness}, &w
		return true
	}
	// What holds whatever the opaque parts are is found first …
	exact := search{analysis: a, steps: &budget{left: steps / 2}, accept: accept}
	if exact.run(a.exact.all(whole, true)) {
		return f, example
	}
	if !exact.cut && exact.found == 0 && a.certain(whole) {
		return Finding{Answer: No}, nil
	}
	// … and what does not hold whatever they are is no case at all.
	loose := search{analysis: a, steps: &budget{left: steps / 2}, accept: accept}
	if loose.run(a.loose.all(whole, false)) {
		return f, example
	}
	if !loose.cut && loose.found == 0 {
		return Finding{Answer: No}, nil
	}
	why.cut = loose.cut && loose.found == 0
	return Finding{Answer: NotDecided, Why: a.explain(whole, why)}, nil
}

// certain reports whether nothing of what is asked is opaque or can overflow, so
// that the exact formula and the loose one say the same.
func (a *analysis) certain(ask []asked) bool {
	for _, q := range ask {
		if f := a.exact.computable(q.cond); f.join != all || len(f.kids) > 0 {
			return false
		}
		if slices.ContainsFunc(q.cond.places(), func(p int) bool { return a.slots[p].opaque }) {
			return false
		}
	}
	return true
}

// all is the formula of all that is asked; computable also asks for no overflow.
func (f *formulas) all(ask []asked, computable bool) *formula {
	parts := make([]*formula, 0, len(ask))
	for _, q := range ask {
		parts = append(parts, f.is(q.cond, q.set))
	}
	if computable {
		for _, q := range ask {
			parts = append(parts, f.computable(q.cond))
		}
	}
	return allOf(parts...)
}

// relevant returns the assumptions that a question must respect, and the
// variables of those that it need not: of a group that shares no variable with
// the question and has opaque parts.
func (a *analysis) relevant(ask []asked) (out []asked, without map[int]bool) {
	reached := map[int]bool{}
	for _, q := range ask {
		a.reach(q.cond, reached)
	}
	left := slices.Clone(a.assume)
	out = a.connected(&left, reached)
	without = map[int]bool{}
	for len(left) > 0 {
		group := map[int]bool{}
		first := left[0]
		left = left[1:]
		a.reach(first, group)
		some := append(a.connected(&left, group), asked{first, isTrue | isUnknown})
		opaque := false
		for p := range group {
			opaque = opaque || a.slots[p].opaque
		}
		if !opaque {
			out = append(out, some...)
			continue
		}
		for p := range group {
			without[p] = true
		}
	}
	return out, without
}

// connected takes the assumptions that share variables with those reached,
// directly or through others.
func (a *analysis) connected(left *[]*cond, reached map[int]bool) (out []asked) {
	for again := true; again; {
		again = false
		var rest []*cond
		for _, c := range *left {
			own := map[int]bool{}
			a.reach(c, own)
			touches := false
			for p := range own {
				touches = touches || reached[p]
			}
			if !touches && len(own) > 0 {
				rest = append(rest, c)
				continue
			}
			again = again || len(own) > 0
			out = append(out, asked{c, isTrue | isUnknown})
			for p := range own {
				reached[p] = true
			}
		}
		*left = rest
	}
	return out
}

// reach adds the variables of a condition, and those within its opaque parts.
func (a *analysis) reach(c *cond, into map[int]bool) {
	for todo := c.places(); len(todo) > 0; todo = todo[1:] {
		if p := todo[0]; !into[p] {
			into[p] = true
			todo = append(todo, a.slots[p].within...)
		}
	}
}

// doubts are the reasons against the solutions that were not accepted.
type doubts struct{ overflow, unwritable, cut bool }

// confirms evaluates all that is asked.
func (w world) confirms(ask []asked, why *doubts) bool {
	done := map[*cond]verdict{}
	overflow := false
	for _, q := range ask {
		v := w.evaluate(q.cond, done)
		if v.truth&^q.set != 0 {
			return false
		}
		overflow = overflow || v.overflow
	}
	why.overflow = why.overflow || overflow
	return !overflow
}

// explain says why a question is not decided.
func (a *analysis) explain(ask []asked, why doubts) string {
	var parts []string
	for _, q := range ask {
		for _, p := range q.cond.places() {
			if a.slots[p].opaque && !slices.Contains(parts, a.slots[p].text) {
				parts = append(parts, a.slots[p].text)
			}
		}
	}
	switch {
	case why.cut:
		return "it would take too much work"
	case len(parts) > maxReasons:
		return "the value of " + strings.Join(parts[:maxReasons], ", of ") + " and more is not known"
	case len(parts) > 0:
		return "the value of " + strings.Join(parts, ", of ") + " is not known"
	case why.overflow:
		return "it is possible only where integer arithmetic overflows"
	case why.unwritable:
		return "no example could be written exactly"
	}
	return "the order of texts depends on the collation"
}

// maxReasons is how many opaque parts a reason names.
const maxReasons = 3
