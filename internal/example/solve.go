package example

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
)

// solution has the values of the variables of some clauses, as SQL by their
// order, or says why there are none.
type solution struct {
	answer logic.Answer
	values []string
	why    string
}

// solve finds values for all variables of a scene. Clauses that have no variable
// in common are solved apart, and those that were solved before are remembered.
func (f *Finder) solve(s *scene) (values []string, failed solution) {
	values = make([]string, len(s.symbols))
	for _, g := range s.groups() {
		found := f.group(s, g)
		if found.answer == logic.NotDecided {
			// What a column is set to may be beyond understanding and yet not matter.
			if lean := g.withoutDefinitions(); len(lean.clauses) < len(g.clauses) {
				if again := f.group(s, lean); again.answer == logic.Yes {
					g, found = lean, again
				}
			}
		}
		if found.answer == logic.NotDecided {
			g, found = f.despite(s, g, found)
		}
		if found.answer != logic.Yes {
			return nil, solution{answer: found.answer, why: g.needs(s, found)}
		}
		for i, place := range g.places {
			values[place] = found.values[i]
		}
	}
	return values, solution{answer: logic.Yes}
}

// group is some variables of a scene and the clauses that tie them together.
type group struct {
	places  []int
	clauses []clause
}

// groups divides a scene, in the order of its variables.
func (s *scene) groups() []group {
	root := make([]int, len(s.symbols))
	for i := range root {
		root[i] = i
	}
	var find func(i int) int
	find = func(i int) int {
		if root[i] != i {
			root[i] = find(root[i])
		}
		return root[i]
	}
	for _, c := range s.clauses {
		for _, use := range c.uses {
			a, b := find(c.uses[0]), find(use)
			root[max(a, b)] = min(a, b)
		}
	}
	var out []group
	at := map[int]int{}
	for i := range s.symbols {
		top := find(i)
		if _, there := at[top]; !there {
			at[top] = len(out)
			out = append(out, group{})
		}
		g := &out[at[top]]
		g.places = append(g.places, i)
	}
	// What has no variable is true or false by itself.
	alone := group{}
	for _, c := range s.clauses {
		if len(c.uses) == 0 {
			alone.clauses = append(alone.clauses, c)
			continue
		}
		g := &out[at[find(c.uses[0])]]
		g.clauses = append(g.clauses, c)
	}
	if len(alone.clauses) > 0 {
		out = append(out, alone)
	}
	return out
}

// withoutDefinitions leaves out what says the new values of columns that no
// other clause reads, one after another, and the variables of these.
func (g group) withoutDefinitions() group {
	out := group{clauses: slices.Clone(g.clauses)}
	gone := map[int]bool{}
	for again := true; again; {
		again = false
		readers := map[int]int{}
		for _, c := range out.clauses {
			for _, use := range c.uses {
				readers[use]++
			}
		}
		out.clauses = slices.DeleteFunc(out.clauses, func(c clause) bool {
			unread := c.defines >= 0 && readers[c.defines] == 1
			gone[c.defines] = gone[c.defines] || unread
			again = again || unread
			return unread
		})
	}
	for _, place := range g.places {
		if !gone[place] {
			out.places = append(out.places, place)
		}
	}
	return out
}

// group solves one group.
func (f *Finder) group(s *scene, g group) solution {
	if len(g.clauses) == 0 && len(g.places) == 1 {
		return solution{answer: logic.Yes, values: []string{first(s.symbols[g.places[0]])}}
	}
	key := g.key(s)
	if found, known := f.solved[key]; known {
		return found
	}
	// What was found for other calls is as good; a reason has names in it.
	shape := g.shape(s)
	found, known := f.alike[shape]
	if !known {
		found = (&hunt{finder: f, scene: s, group: g}).run()
		if found.answer == logic.Yes {
			f.alike[shape] = found
		}
	}
	f.solved[key] = found
	return found
}

func first(v symbol) string {
	if len(v.natural) == 0 {
		return ""
	}
	return v.natural[0]
}

// key is equal for groups that have the same solution.
func (g group) key(s *scene) string {
	var b strings.Builder
	for _, place := range g.places {
		b.WriteString(s.symbols[place].Name)
		b.WriteByte(' ')
		b.WriteString(s.symbols[place].key)
		b.WriteByte('\n')
	}
	for _, c := range g.clauses {
		b.WriteString(c.ask.SQL)
		if c.ask.Bound > 0 {
			fmt.Fprintf(&b, " %d %d %t", c.ask.Bound, c.ask.Steps, c.ask.Decides)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shape is equal for groups that differ in nothing but the names of their
// variables: those of the same calls after more or fewer others.
func (g group) shape(s *scene) string {
	var key strings.Builder
	var names []string
	for i, place := range g.places {
		names = append(names, identifier(s.symbols[place].Name), "\x00"+strconv.Itoa(i)+" ")
		key.WriteString(s.symbols[place].key)
		key.WriteByte('\n')
	}
	numbers := strings.NewReplacer(names...)
	for _, c := range g.clauses {
		// What stands between two apostrophes is a text, and names none.
		for i, part := range strings.Split(c.ask.SQL, "'") {
			if i%2 == 0 {
				part = numbers.Replace(part)
			}
			key.WriteString(part)
			key.WriteByte('\'')
		}
		fmt.Fprintf(&key, " %d %d %t\n", c.ask.Bound, c.ask.Steps, c.ask.Decides)
	}
	return key.String()
}

// needs says for people what the group asks for, and what is not known of it.
func (g group) needs(s *scene, found solution) string {
	var parts []string
	for _, c := range g.clauses {
		if c.people != "" && !slices.Contains(parts, c.people) {
			parts = append(parts, c.people)
		}
	}
	text := strings.Join(parts, "; ")
	if found.answer == logic.NotDecided && found.why != "" {
		var names []string
		for _, place := range g.places {
			names = append(names, identifier(s.symbols[place].Name), s.symbols[place].people)
		}
		if text != "" {
			text += ": "
		}
		text += strings.NewReplacer(names...).Replace(found.why)
	}
	return text
}
