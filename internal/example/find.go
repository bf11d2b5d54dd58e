package example

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// maxJoint is how many calls are solved together. Of more, each is solved
// together with the next ones on the row that those before it have left.
const maxJoint = 4

// Find answers a problem. Of a machine without a table nothing is known: the
// answer has no values, and fails at the first call of which anything is asked.
func (f *Finder) Find(p Problem) Answer {
	if f.machine.Table == nil {
		return f.tableless(p)
	}
	if len(p.Calls) <= maxJoint {
		return f.joint(p)
	}
	return f.stepwise(p)
}

func (f *Finder) tableless(p Problem) Answer {
	out := Answer{Failed: -1, Calls: make([]Taken, len(p.Calls))}
	for i, call := range p.Calls {
		for _, must := range call.Must {
			if must.Expr != nil {
				return Answer{Failed: i, Why: must.String(), Calls: out.Calls[:i]}
			}
		}
	}
	return out
}

// known are the columns that are not to be chosen, as constants.
func (p Problem) known(t *model.Table) map[string]string {
	known := map[string]string{}
	for _, v := range p.Known {
		known[v.Name] = ""
		if v.SQL == "" {
			continue
		}
		if v.Name == t.Version {
			known[v.Name] = "(" + v.SQL + ")::" + t.VersionType
		}
		for _, c := range slices.Concat(t.Keys, t.Columns) {
			if c.Name == v.Name {
				known[v.Name] = typed(v.SQL, c.Type)
			}
		}
	}
	return known
}

// joint solves all calls together or, where that fails, as many of the first
// ones as it can.
func (f *Finder) joint(p Problem) Answer {
	out := Answer{Failed: -1}
	for n := len(p.Calls); n > 0; n-- {
		s := f.build(p, nil, n, p.known(f.machine.Table))
		values, failed := f.solve(s)
		if failed.answer == logic.Yes {
			out.Row = s.shownRow(values)
			for i := range s.calls {
				out.Calls = append(out.Calls, s.taken(i, values))
			}
			return out
		}
		out.Failed, out.Why, out.Never = n-1, failed.why, failed.answer == logic.No
	}
	return out
}

// stepwise solves one call after another, each with a look at the next ones.
func (f *Finder) stepwise(p Problem) Answer {
	out := Answer{Failed: -1}
	known := p.known(f.machine.Table)
	var before []past
	for i := range p.Calls {
		var s *scene
		var values []string
		var failed solution
		for last := min(i+maxJoint, len(p.Calls)); last > i; last-- {
			s = f.build(p, before, last, maps.Clone(known))
			if values, failed = f.solve(s); failed.answer == logic.Yes {
				break
			}
		}
		if failed.answer != logic.Yes {
			out.Failed, out.Why, out.Never = i, failed.why, false
			return out
		}
		if i == 0 {
			out.Row = s.shownRow(values)
			s.settled(known, values)
		}
		taken := s.taken(0, values)
		out.Calls = append(out.Calls, taken)
		before = append(before, past{p.Calls[i], taken.Params})
		s.leave(known, values)
	}
	return out
}

// shownRow is the row before the first call.
func (s *scene) shownRow(values []string) []Value {
	var out []Value
	show := func(name string) {
		if place, there := s.row[name]; there {
			out = append(out, value(name, values[place], s.symbols[place].typ))
		}
	}
	for _, c := range slices.Concat(s.table.Keys, s.table.Columns) {
		show(c.Name)
	}
	show(s.table.Version)
	return out
}

// taken shows the values of one call.
func (s *scene) taken(i int, values []string) Taken {
	var out Taken
	call := s.calls[i]
	for n, p := range call.Event.Params {
		if place := call.params[n]; place >= 0 {
			out.Params = append(out.Params, value(p.Name, values[place], p.Type))
		} else {
			out.Params = append(out.Params, call.fixed[n])
		}
	}
	for n, place := range call.after {
		if place >= 0 && values[place] != "" {
			c := call.Set[n].Column
			out.After = append(out.After, value(c.Name, values[place], c.Type))
		}
	}
	out.Unsure = s.unsureOf(call)
	return out
}

// settled notes the row before the first call.
func (s *scene) settled(known map[string]string, values []string) {
	maps.Copy(known, s.start)
	for name, place := range s.row {
		known[name] = typed(values[place], s.symbols[place].typ)
	}
}

// leave notes the row after the first call. What is not known of it has no
// value, and every condition that reads it is then undecided.
func (s *scene) leave(known map[string]string, values []string) {
	call := s.calls[0]
	for n, place := range call.after {
		if call.Set[n].Column == nil {
			continue
		}
		known[call.Set[n].Column.Name] = ""
		if place >= 0 && values[place] != "" {
			known[call.Set[n].Column.Name] = typed(values[place], call.Set[n].Column.Type)
		}
	}
	if version, there := known[s.table.Version]; there && call.Moves {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(version, "("), ")::"+s.table.VersionType))
		known[s.table.Version] = ""
		if err == nil {
			known[s.table.Version] = "(" + strconv.Itoa(n+1) + ")::" + s.table.VersionType
		}
	}
}

// OtherKey returns the key of a second row beside the one of an answer: it
// differs in the last column of the key. It is empty without a table.
func (f *Finder) OtherKey(row []Value) []Value {
	if f.machine.Table == nil || len(row) < len(f.machine.Table.Keys) {
		return nil
	}
	keys := f.machine.Table.Keys
	out := slices.Clone(row[:len(keys)])
	last := keys[len(keys)-1]
	for _, literal := range natural(last.Name, last.Type, 1) {
		if other := value(last.Name, literal, last.Type); other.SQL != out[len(out)-1].SQL {
			out[len(out)-1] = other
			break
		}
	}
	return out
}
