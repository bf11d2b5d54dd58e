package randommachine

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/model"
)

func (d *drawing) events() {
	for _, name := range distinct(d.T, "events", eventNames, 1, 5) {
		e := event{name: name}
		switch one(d.T, "kind", "command", "command", "callback", "callback", "timer") {
		case "callback":
			e.callback = true
		case "timer":
			e.timer = true
		}
		if !e.timer {
			d.params(&e)
			e.expect = chance(d.T, "expects a version", 15)
		}
		d.moves(&e)
		d.decide(&e)
		d.ev = append(d.ev, e)
	}
	for i := range d.all { // what nothing leaves may be final, and some rest
		left := slices.ContainsFunc(d.ev, func(e event) bool {
			return slices.ContainsFunc(e.moves, func(m move) bool { return slices.Contains(m.from, i) })
		})
		d.all[i].resting = chance(d.T, "resting", 30)
		d.all[i].final = !left && !d.all[i].resting
	}
}

// params draws parameters: of an identity and a fingerprint first, then others.
func (d *drawing) params(e *event) {
	names := distinct(d.T, "params", paramNames, 0, 4)
	facts := (e.callback || chance(d.T, "command with an identity", 25)) && chance(d.T, "identity", 80)
	identities := 1
	if facts && chance(d.T, "identity of two", 25) {
		identities = 2
	}
	for i, name := range names {
		typ := one(d.T, "param type", types...)
		switch {
		case facts && i < identities:
			typ = one(d.T, "identity type", identityTypes...)
			e.identity = append(e.identity, name)
		case facts && i < identities+2 && chance(d.T, "fingerprint", 50):
			typ = one(d.T, "fingerprint type", identityTypes...)
			e.fingerprint = append(e.fingerprint, name)
		}
		p := d.column(name, typ)
		p.Param = true
		p.Optional = !slices.Contains(e.identity, name) && !slices.Contains(e.fingerprint, name) && chance(d.T, "optional param", 30)
		if chance(d.T, "param check", 15) {
			switch {
			case slices.Contains(numberKinds, p.Type.Kind):
				p.check = p.SQL() + one(d.T, "bound", " > 0", " >= 0", " <> 3")
			case p.Type.Kind == model.KindText:
				p.check = p.SQL() + one(d.T, "bound", " <> 'b'", " <> ''")
			}
		}
		e.params = append(e.params, p)
	}
}

// moves draws the transitions: a few cells, each of which may try several guards.
func (d *drawing) moves(e *event) {
	x := d.fields(e)
	for range rapid.IntRange(0, 3).Draw(d.T, "groups") {
		from := rapid.SliceOfNDistinct(rapid.IntRange(0, len(d.all)-1), 1, min(3, len(d.all)), rapid.ID[int]).Draw(d.T, "from")
		from = slices.DeleteFunc(from, func(i int) bool {
			return slices.ContainsFunc(e.moves, func(m move) bool { return slices.Contains(m.from, i) })
		})
		if len(from) == 0 {
			continue
		}
		slices.Sort(from)
		guards, left := rapid.IntRange(0, 2).Draw(d.T, "guards"), x
		for i := 0; i <= guards; i++ {
			m := move{from: from, to: rapid.IntRange(0, len(d.all)-1).Draw(d.T, "to")}
			if i < guards || chance(d.T, "no else", 40) {
				m.guard = left.Condition(d.T, rapid.IntRange(0, 2).Draw(d.T, "depth"))
				left = left.mostlyWithout(d.T, m.guard)
			}
			m.set = d.sets(x)
			if chance(d.T, "emits", 35) {
				m.emit = distinct(d.T, "topics", topicNames, 1, 3)
			}
			e.moves = append(e.moves, m)
		}
	}
}

// sets draws assignments. A counter is among them more often than not.
func (d *drawing) sets(x Expressions) [][2]string {
	var sets [][2]string
	if chance(d.T, "counts", 40) {
		counter := d.columns[0]
		amounts := x.of(wholeKinds...)
		sets = append(sets, [2]string{counter.Name, counter.SQL() + one(d.T, "sign", " + ", " - ") + one(d.T, "amount", append([]string{"1", "2"}, sqlOf(amounts)...)...)})
	}
	for _, c := range d.columns[1:] {
		if chance(d.T, "set", 25) {
			sets = append(sets, [2]string{c.Name, x.Value(d.T, c.Type, c.Optional)})
		}
	}
	return sets
}

func sqlOf(fields []Field) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.SQL())
	}
	return all
}

// decide draws what is said where no transition is taken.
func (d *drawing) decide(e *event) {
	decisions := []string{"ignore", "reject"}
	if len(e.identity) > 0 {
		decisions = append(decisions, "compensate", "compensate")
	} else {
		decisions = append(decisions, "replay", "replay")
	}
	named := map[string][]string{}
	for i, s := range d.all {
		moved := slices.ContainsFunc(e.moves, func(m move) bool {
			return slices.Contains(m.from, i) && (m.guard == "" || !e.callback)
		})
		if !moved && chance(d.T, "named", 40) {
			decision := one(d.T, "decision", decisions...)
			named[decision] = append(named[decision], word(s.name))
		}
	}
	rest := ""
	if e.callback || chance(d.T, "rest", 50) {
		rest = one(d.T, "rest decision", decisions...)
	}
	for _, decision := range []string{"replay", "ignore", "reject", "compensate"} {
		states := "[" + strings.Join(named[decision], ", ") + "]"
		if decision == rest {
			states = `["*"]`
			if len(named[decision]) > 0 {
				states = "[" + strings.Join(append(named[decision], `"*"`), ", ") + "]"
			}
		} else if len(named[decision]) == 0 {
			continue
		}
		if decision == "compensate" {
			emit := words(distinct(d.T, "compensate topics", topicNames, 0, 2))
			states = mapping("states: "+states, "emit: "+emit)
		}
		e.otherwise = append(e.otherwise, decision+": "+states)
	}
}

// deadlines draws for which states the timers go off.
func (d *drawing) deadlines() {
	for _, e := range d.ev {
		if !e.timer {
			continue
		}
		for i := range d.all {
			s := &d.all[i]
			cell := slices.DeleteFunc(slices.Clone(e.moves), func(m move) bool { return !slices.Contains(m.from, i) })
			if len(cell) == 0 || s.deadline != "" || !chance(d.T, "deadline", 80) {
				continue
			}
			s.deadline = "after: " + one(d.T, "after", "1s", "90s", "30m", "1d", "10d", "1h30m") + ", event: " + word(e.name)
			if slices.ContainsFunc(cell, func(m move) bool { return m.to == i }) && chance(d.T, "max", 70) {
				s.deadline += fmt.Sprintf(", max: %d", rapid.IntRange(1, 3).Draw(d.T, "max"))
			}
		}
	}
}
