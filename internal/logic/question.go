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
	steps := share(1 + 2*n + n*(n-1)/2)
	var out Report
	var none []asked
	for i, g := range a.guards {
		none = append(none, asked{g, isFalse | isUnknown})
		never := opposite(a.decide([]asked{{g, isTrue}}, steps))
		shadowed := Finding{Answer: No}
		if never.Answer != Yes && i > 0 {
			alone := append(slices.Clone(none[:i]), asked{g, isTrue})
			shadowed = opposite(a.decide(alone, steps))
		}
		out.Never, out.Shadowed = append(out.Never, never), append(out.Shadowed, shadowed)
	}
	for i := range guards {
		for j := i + 1; j < n; j++ {
			if guards[i].SQL == "" || guards[j].SQL == "" || out.Never[i].Answer == Yes || out.Never[j].Answer == Yes {
				continue
			}
			f := a.decide([]asked{{a.guards[i], isTrue}, {a.guards[j], isTrue}}, steps)
			if f.Answer != No {
				out.Overlaps = append(out.Overlaps, Overlap{A: i, B: j, Finding: f})
			}
		}
	}
	out.Gap = a.decide(none, steps)
	return out
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
// assumptions too.
func (a *analysis) decide(ask []asked, steps int) Finding {
	assume, without := a.relevant(ask)
	all := append(slices.Clone(ask), assume...)
	var f Finding
	var why doubts
	accept := func(w world) bool {
		if !w.confirms(all, &why) {
			return false
		}
		witness, ok := w.witness(without)
		if !ok {
			why.unwritable = true
			return false
		}
		f = Finding{Answer: Yes, Witness: witness}
		return true
	}
	// What holds whatever the opaque parts are is found first …
	exact := search{analysis: a, steps: &budget{left: steps / 2}, accept: accept}
	if exact.run(a.exact.all(all, true)) {
		return f
	}
	// … and what does not hold whatever they are is no case at all.
	loose := search{analysis: a, steps: &budget{left: steps / 2}, accept: accept}
	if loose.run(a.loose.all(all, false)) {
		return f
	}
	if !loose.cut && loose.found == 0 {
		return Finding{Answer: No}
	}
	why.cut = loose.cut && loose.found == 0
	return Finding{Answer: NotDecided, Why: a.explain(all, why)}
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
