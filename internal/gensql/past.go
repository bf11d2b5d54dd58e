package gensql

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// PastOf gathers what the migrations of a machine have made, in their order,
// that its newest one says no longer; nothing where there are none.
func PastOf(made []Schema) model.Past {
	if len(made) == 0 {
		return model.Past{}
	}
	var all Schema // its pending part holds what is gathered
	codes := map[string]int{}
	var past model.Past
	for _, s := range made {
		for _, r := range s.Renames {
			if code, ok := codes[r.Was]; ok {
				codes[r.Is] = code
			}
		}
		past.Former = renamedAgain(past.Former, s.Renames)
		all = all.inTermsOf(s.Renames)
		p := all.pending()
		p.States = union(p.States, s.statesInForce())
		p.Initial = union(union(p.Initial, []string{s.Initial}), s.pending().Initial)
		p.Edges = joinEdges(p.Edges, s.edgesInForce())
		all.Pending = &p
		for _, state := range s.statesInForce() {
			if s.coded() {
				codes[state] = s.code(state)
			}
		}
		for _, e := range s.Identities {
			past.Identities = union(past.Identities, []string{e.Event})
		}
	}
	newest := made[len(made)-1]
	past.Initial, past.Due = all.Pending.Initial, newest.pending().Due
	for _, state := range all.Pending.States {
		if !slices.Contains(newest.States, state) {
			past.States = append(past.States, model.PastState{Name: state, Code: codes[state], Pending: slices.Contains(newest.pending().States, state)})
		}
	}
	for _, e := range all.Pending.Edges {
		for _, to := range e.To {
			past.Edges = append(past.Edges, [2]string{e.From, to})
		}
	}
	return past
}

// renamedAgain leads former names to the newer ones and adds those that have
// become former. A rename stands in several migrations until it is through.
func renamedAgain(former [][2]string, renames []Rename) [][2]string {
	var all [][2]string
	add := func(was, is string) {
		if pair := [2]string{was, is}; was != is && !slices.Contains(all, pair) {
			all = append(all, pair)
		}
	}
	for _, f := range former {
		for _, r := range renames {
			if r.Was == f[1] {
				f[1] = r.Is
				break
			}
		}
		add(f[0], f[1])
	}
	for _, r := range renames {
		add(r.Was, r.Is)
	}
	return all
}

// union adds to a list what it lacks of another.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
