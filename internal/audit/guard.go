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
	// foreign are the constraints, triggers and functions that cannot be judged.
	foreign map[string]bool
}

// judged is what can be asked of a row: a condition, or a trigger with its function.
type judged interface {
	holds(scope) (bool, error)
}

// pass returns the first of the scopes for which the condition says want, -1
// for none. That the condition cannot be judged is noted once.
func (g guard) pass(name string, c judged, want bool, scopes ...scope) int {
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
	if g.foreign[name] {
		return
	}
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

// trigger judges when a trigger fires, and what its WHEN and its function let pass.
func (g guard) trigger(name string, t trigger, on int64, judge func(string, refusal)) {
	if t.fires&(eachRow|before|insteadOf|on) != eachRow|on || t.ofColumns {
		g.find(GuardWeakened, "the trigger %s does not fire after every such change of a row", name)
		return
	}
	when, err := readWhen(t.def)
	if err != nil {
		g.unjudged(name)
		return
	}
	judge(name, refusal{when: when, body: t.body})
}

// read parses the function, and reports whether there is anything to judge. One
// that cannot be read is noted, and leaves the trigger's condition.
func (g guard) read(r *refusal) bool {
	var err error
	if r.function, err = readProgram(r.body); err != nil {
		g.unjudged(g.called().Refuse())
	}
	return r.function != nil || r.when.node != nil
}

// gone has no condition: a row always takes its history with it.
func (g guard) gone(name string, r refusal) {
	if r.when.node != nil {
		g.find(GuardWeakened, "the trigger %s has a condition, so that history and facts may outlive their row", name)
	}
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
	s["tg_op"], s[entriesOf+l.called().History()] = "UPDATE", []scope{}
	return s
}

// insert is a new row. There is no row before it, and so all of that is NULL.
func (l *lifecycle) insert(in string, version int) scope {
	s := l.update(in, in, version)
	for column := range l.row("old", in, version) {
		s[column] = nil
	}
	s["tg_op"] = "INSERT"
	return s
}
