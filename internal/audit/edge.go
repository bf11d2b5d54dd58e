package audit

import "strconv"

// edge judges the trigger of updates, with its function.
func (g guard) edge(name string, r refusal) {
	if !g.read(&r) {
		return
	}
	values, _ := g.places()
	if !g.letsJump(name, r, values) && !g.letsForge(name, r, values) && !g.letsMove(name, r, values) {
		g.mixed(name, r, values)
	}
}

// letsJump finds a trigger that lets a row move without counting its version by
// one, or get another key, and reports whether it does.
func (g guard) letsJump(name string, r refusal, values []string) bool {
	var versions, keys []scope
	for i, from := range values {
		to := values[(i+1)%len(values)]
		versions = append(versions, g.update(from, to, 4), g.update(from, to, 7), g.update(from, from, 4), g.update(from, from, 7))
		if from != to {
			versions = append(versions, g.update(from, to, 5))
		}
		for _, k := range g.Table.Keys {
			s := g.update(from, to, 6)
			s["new."+k.Name] = "another"
			keys = append(keys, s)
		}
	}
	switch {
	case g.pass(name, r, false, versions...) >= 0:
		g.find(GuardWeakened, "the trigger %s lets a row move without its version being counted by one", name)
	case g.pass(name, r, false, keys...) >= 0:
		g.find(GuardWeakened, "the trigger %s lets a row get another key", name)
	default:
		return false
	}
	return true
}

// letsForge finds a trigger that takes for a correction what the history does
// not tell of as one, and reports whether it does. It is asked of the first move
// that is refused otherwise.
func (g guard) letsForge(name string, r refusal, values []string) bool {
	for _, from := range values {
		for _, to := range values {
			switch is, err := r.holds(g.update(from, to, 6)); {
			case err != nil:
				g.unjudged(name)
				return false
			case !is:
				continue
			}
			if g.pass(name, r, false, g.forgeries(from, to)...) < 0 {
				return false
			}
			g.find(GuardWeakened, "the trigger %s takes a move for a correction of which the history does not tell", name)
			return true
		}
	}
	return false
}

// forgeries are moves beside an entry of the history that is not the forced one
// of just that move, and corrections of more than the state.
func (g guard) forgeries(from, to string) []scope {
	_, states := g.places()
	with := func(move scope, version, column string, value any) scope {
		entry := scope{"version": version, "forced": true, "from_status": states[from].Name, "to_status": states[to].Name}
		for _, k := range g.Table.Keys {
			entry[k.Name] = move["new."+k.Name]
		}
		entry[column] = value
		move[entriesOf+g.called().History()] = []scope{entry}
		return move
	}
	var moves []scope
	for _, is := range []struct {
		column string
		value  any
	}{{"version", "5"}, {"forced", false}, {"from_status", "no state"}, {"to_status", "no state"}} {
		moves = append(moves, with(g.update(from, to, 6), "6", is.column, is.value))
	}
	for _, version := range []int{4, 7} {
		move := g.update(from, to, version)
		moves = append(moves, with(move, strconv.Itoa(version), "forced", true))
	}
	for _, k := range g.Table.Keys {
		moves = append(moves, with(g.update(from, to, 6), "6", k.Name, "another"))
		move := g.update(from, to, 6)
		move["new."+k.Name] = "another"
		moves = append(moves, with(move, "6", "forced", true))
	}
	return moves
}

// letsMove finds a trigger that lets a row make a move which no transition of
// today or of then makes, and reports whether it does. Which moves are legal is
// known from the migrations alone, since a definition does not tell those of then.
func (g guard) letsMove(name string, r refusal, values []string) bool {
	if !g.migrated {
		return false
	}
	_, states := g.places()
	legal := g.legal()
	for _, from := range values {
		for _, to := range values {
			if !legal[[2]string{from, to}] && g.pass(name, r, false, g.update(from, to, 6)) >= 0 {
				g.find(GuardWeakened, "the trigger %s lets a row move from %s to %s, which no transition does", name, states[from].Name, states[to].Name)
				return true
			}
		}
	}
	return false
}

// mixed finds a trigger and a function that are not of one migration: none of
// the two has the edges, or both have.
func (g guard) mixed(name string, r refusal, values []string) {
	var still []scope
	for _, in := range values {
		still = append(still, g.update(in, in, 5))
	}
	function := g.called().Refuse()
	switch {
	case r.when.node == nil && g.pass(name, r, true, still...) >= 0:
		g.find(GuardMixed, "the trigger %s has no condition and its function %s no edges: every update of a row is refused", name, function)
	case r.when.node != nil && r.function != nil && g.pass(function, r.function, false, still...) >= 0:
		g.find(GuardMixed, "the trigger %s has a condition and its function %s has edges as well: only what both refuse is refused", name, function)
	}
}

// birth judges the trigger of inserts, with its function.
func (g guard) birth(name string, r refusal) {
	if !g.read(&r) {
		return
	}
	values, states := g.places()
	for _, in := range values {
		switch {
		case g.pass(name, r, false, g.insert(in, 2)) >= 0:
			g.find(GuardWeakened, "the trigger %s lets a row begin at another version than 1", name)
			return
		case g.migrated && !g.births[states[in].Index] && g.pass(name, r, false, g.insert(in, 1)) >= 0:
			g.find(GuardWeakened, "the trigger %s lets a row begin in %s, in which none is created", name, states[in].Name)
			return
		}
	}
}
