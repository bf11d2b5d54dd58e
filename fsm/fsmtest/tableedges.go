package fsmtest

import (
	"fmt"
	"strings"
)

// births sees that rows begin in the initial state, version 1.
func (w *writing) births() {
	m := w.e.m
	enable := "ALTER TABLE " + quoted(m.Table) + " ENABLE TRIGGER " + quoted(m.Birth)
	for _, s := range m.States {
		for version := 1; version <= 2; version++ {
			_, insert, err := w.e.insert(w.ctx, seed{state: s.Name, version: version})
			if err != nil {
				w.t.Fatal(err)
			}
			if s.Name == m.Initial && version == 1 {
				w.must("", enable, insert)
			} else {
				w.mustBy(m.Birth, enable, insert)
			}
		}
	}
}

// edges sees that each edge of the machine can be gone by raising the version by
// one, and no other.
func (w *writing) edges() {
	m := w.e.m
	rule := strings.TrimSuffix(m.Birth, "_birth") + "_edge"
	for _, from := range m.States {
		r, other := w.row(from.Name), w.newKey()
		for _, to := range m.States {
			if !m.edge(from.Name, to.Name) {
				w.mustBy(rule, w.update(r, w.setStatus(to.Name), w.setVersion(1)))
				continue
			}
			w.must("", w.update(r, w.setStatus(to.Name), w.setVersion(1)))
			for _, by := range []int{-1, 2} {
				w.mustBy(rule, w.update(r, w.setStatus(to.Name), w.setVersion(by)))
			}
			w.mustBy(rule, w.update(r, w.setStatus(to.Name), w.setVersion(1), w.setKey(other)))
			if from.Name != to.Name {
				w.mustBy(rule, w.update(r, w.setStatus(to.Name)))
			}
		}
		w.mustBy(rule, w.update(r, w.setVersion(2)))
		w.mustBy(rule, w.update(r, w.setKey(other)))
		w.must("", w.update(r, w.setStatus(from.Name), w.setVersion(0))) // nothing of the machine's is changed
	}
}

// corrections sees that a correction, which its history allows, may go where no
// edge leads, and that nothing but a correction allows it.
func (w *writing) corrections() {
	m := w.e.m
	rule := strings.TrimSuffix(m.Birth, "_birth") + "_edge"
	for _, from := range m.States {
		for _, to := range m.States {
			if m.edge(from.Name, to.Name) || from.Name == to.Name {
				continue
			}
			r, other := w.row(from.Name), w.row(from.Name)
			third := from.Name
			move := w.update(r, w.setStatus(to.Name), w.setVersion(1))
			w.must("", w.entry(r, 1, from.Name, to.Name, true), move)
			w.mustBy(rule, w.entry(r, 1, from.Name, to.Name, false), move)
			w.mustBy(rule, w.entry(r, 1, to.Name, to.Name, true), move)
			w.mustBy(rule, w.entry(r, 1, from.Name, third, true), move)
			w.mustBy(rule, w.entry(r, 2, from.Name, to.Name, true), move)
			w.mustBy(rule, w.entry(other, 1, from.Name, to.Name, true), move)
			w.mustBy(rule, w.entry(r, 2, from.Name, to.Name, true), w.update(r, w.setStatus(to.Name), w.setVersion(2)))
			renamed := w.newKey()
			w.mustBy(rule, w.entry(renamed, 1, from.Name, to.Name, true), w.update(r, w.setStatus(to.Name), w.setVersion(1), w.setKey(renamed)))
			return // one pair is as good as another
		}
	}
}

// entry is an INSERT into the history, of the version by which the row's is raised.
func (w *writing) entry(r *row, by int, from, to string, forced bool) string {
	stored := func(state string) string { return literal(w.e.recorded(state)) }
	return w.insert(w.e.m.History, append(w.keys(r), "version", fmt.Sprint(seedVersion+by), "event", "'correct'", "from_status", stored(from),
		"to_status", stored(to), "actor", "'a'", "reason", "'r'", "forced", fmt.Sprint(forced), "at", "now()")...)
}

// keys are the key's columns with their values.
func (w *writing) keys(r *row) []string {
	var list []string
	for i, k := range w.e.m.Key {
		list = append(list, k.Name, r.key[i])
	}
	return list
}

// insert is an INSERT of columns with their values.
func (w *writing) insert(table string, columns ...string) string {
	var names, values []string
	for i := 0; i+1 < len(columns); i += 2 {
		names, values = append(names, quoted(columns[i])), append(values, columns[i+1])
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(table), strings.Join(names, ", "), strings.Join(values, ", "))
}
