package audit

import (
	"maps"
	"slices"
	"strconv"

	"github.com/pawl-go/pawl/internal/model"
)

// guard judges what constraints and triggers let pass. It says so only of what
// no migration and no definition allows, and is silent where a condition is
// stricter, or not one that migrations write: that is a note.
type guard struct {
	*lifecycle
	find func(Kind, string, ...any)
	note func(string, ...any)
	// foreign are the constraints and triggers that cannot be judged.
	foreign map[string]bool
}

// pass returns the first of the scopes for which the condition says want, -1
// for none. That the condition cannot be judged is noted once.
func (g guard) pass(name string, c condition, want bool, scopes ...scope) int {
	for i, s := range scopes {
		if g.foreign[name] {
			return -1
		}
		switch is, err := c.holds(s); {
		case err != nil:
			g.unjudged(name)
			return -1
		case is == want:
			return i
		}
	}
	return -1
}

func (g guard) unjudged(name string) {
	g.foreign[name] = true
	g.note("%s: what %s lets pass was not judged, since it is not written as migrations write it", g.Name, name)
}

// check finds a CHECK, nil for none, that takes a row which it is there to
// refuse, and reports whether it does.
func (g guard) check(c *constraint, takes string, refused ...scope) bool {
	if c == nil {
		return false
	}
	is, err := readCondition(c.expr)
	if err != nil {
		is = condition{}
	}
	if g.pass(c.name, is, true, refused...) < 0 {
		return false
	}
	g.find(GuardWeakened, "%s takes %s", c.name, takes)
	return true
}

// noState is what the status column of no row holds.
func (l *lifecycle) noState(c *constraint) string {
	if l.Table.Status.Storage != model.StoredCode {
		return "no state"
	}
	listed := l.listed(c.expr)
	for code := 32767; ; code-- {
		if text := strconv.Itoa(code); !slices.Contains(listed, text) {
			return text
		}
	}
}

// fires are the bits of pg_trigger.tgtype that say when a trigger fires.
const (
	eachRow   = 1
	before    = 2
	onInsert  = 4
	onDelete  = 8
	onUpdate  = 16
	insteadOf = 64
)

// trigger judges when a trigger fires, and what its WHEN lets pass.
func (g guard) trigger(name string, t trigger, on int64, judge func(string, condition)) {
	if t.fires&(eachRow|before|insteadOf|on) != eachRow|on || t.ofColumns {
		g.find(GuardWeakened, "the trigger %s does not fire after every such change of a row", name)
		return
	}
	when, err := readWhen(t.def)
	switch {
	case err != nil:
		g.unjudged(name)
	case when.node != nil: // without a WHEN it fires always
		judge(name, when)
	}
}

// gone has no condition: a row always takes its history with it.
func (g guard) gone(name string, _ condition) {
	g.find(GuardWeakened, "the trigger %s has a condition, so that history and facts may outlive their row", name)
}

// places are the values of the status column that are judged, with the states
// that they are: not those that were another state's name once, since a
// database that lags behind may still have them for that.
func (l *lifecycle) places() (values []string, of map[string]*model.State) {
	other := map[string]bool{}
	for _, f := range l.former {
		other[f[0]] = true
	}
	for _, s := range l.States {
		other[s.Was] = true
	}
	of = map[string]*model.State{}
	for _, s := range l.states {
		if text := l.Table.Status.Text(s.Name, s.Code); !other[s.Name] && of[text] == nil {
			values, of[text] = append(values, text), s
		}
	}
	return values, of
}

// legal are the moves, by values, that a transition of today or of then makes.
func (l *lifecycle) legal() map[[2]string]bool {
	moves := map[[2]string]bool{}
	for _, from := range l.states {
		for _, to := range l.states {
			if l.edges[from.Index][to.Index] || l.once[from.Index][to.Index] {
				moves[[2]string{l.Table.Status.Text(from.Name, from.Code), l.Table.Status.Text(to.Name, to.Code)}] = true
			}
		}
	}
	return moves
}

// row is a row of the table as a trigger sees it.
func (l *lifecycle) row(alias, status string, version int) scope {
	s := scope{alias + "." + l.Table.Status.Column: status, alias + "." + l.Table.Version: strconv.Itoa(version)}
	for _, k := range l.Table.Keys {
		s[alias+"."+k.Name] = "a key"
	}
	return s
}

// update is a row before and after an UPDATE from version 5.
func (l *lifecycle) update(from, to string, version int) scope {
	s := l.row("old", from, 5)
	maps.Copy(s, l.row("new", to, version))
	return s
}

// edge judges the trigger of updates. Which moves are legal is known from the
// migrations alone, since a definition does not tell those of then.
func (g guard) edge(name string, when condition) {
	values, states := g.places()
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
	case g.pass(name, when, false, versions...) >= 0:
		g.find(GuardWeakened, "the trigger %s lets a row move without its version being counted by one", name)
		return
	case g.pass(name, when, false, keys...) >= 0:
		g.find(GuardWeakened, "the trigger %s lets a row get another key", name)
		return
	case !g.migrated:
		return
	}
	legal := g.legal()
	for _, from := range values {
		move := g.update(from, from, 6)
		for _, to := range values {
			move["new."+g.Table.Status.Column] = to
			if !legal[[2]string{from, to}] && g.pass(name, when, false, move) >= 0 {
				g.find(GuardWeakened, "the trigger %s lets a row move from %s to %s, which no transition does", name, states[from].Name, states[to].Name)
				return
			}
		}
	}
}

// birth judges the trigger of inserts.
func (g guard) birth(name string, when condition) {
	values, states := g.places()
	for _, in := range values {
		switch {
		case g.pass(name, when, false, g.row("new", in, 2)) >= 0:
			g.find(GuardWeakened, "the trigger %s lets a row begin at another version than 1", name)
			return
		case g.migrated && !g.births[states[in].Index] && g.pass(name, when, false, g.row("new", in, 1)) >= 0:
			g.find(GuardWeakened, "the trigger %s lets a row begin in %s, in which none is created", name, states[in].Name)
			return
		}
	}
}
