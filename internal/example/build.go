package example

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// build makes the scene of the calls after those before, up to the one numbered
// last, on a row of which the columns in known have their values. All columns that any of
// the calls reads are chosen together with the row.
func (f *Finder) build(p Problem, before []past, last int, known map[string]string) *scene {
	first := len(before)
	s := &scene{
		past: before, finder: f, table: f.machine.Table, created: p.Created, creator: f.machine.Created(),
		row: map[string]int{}, columns: map[string]int{}, known: known,
	}
	if first == 0 && len(p.Calls) > 0 {
		s.state = p.Calls[0].State
		for _, name := range s.concerned(p.Calls) {
			s.read(name)
		}
		s.start = maps.Clone(s.known)
		all := map[string]int{s.table.Status.Column: 0}
		for name := range s.columns {
			all[name] = 0
		}
		s.checks(all)
	}
	for i, call := range p.Calls[first:last] {
		s.calls, s.state = append(s.calls, step{Call: call}), call.State
		s.arguments(i)
		for _, must := range call.Must {
			s.must(i, must)
		}
		if call.Moves {
			s.assign(i)
		}
	}
	return s
}

// concerned returns the columns that must be chosen for the calls, in order:
// those without which there is no row, those that are read, and those that a
// CHECK ties to them or to what is set. The version comes last.
func (s *scene) concerned(calls []Call) []string {
	reads := map[string]bool{}
	touched := map[string]bool{s.table.Status.Column: true}
	for _, c := range s.required() {
		reads[c.Name] = true
	}
	for _, call := range calls {
		for _, must := range call.Must {
			mentions(must.Expr, reads)
		}
		for _, a := range call.Set {
			if call.Moves && a.Column != nil {
				mentions(a.Value, reads)
				touched[a.Column.Name] = true
			}
		}
	}
	for again := true; again; {
		again = false
		for _, c := range s.table.Columns {
			own := map[string]bool{}
			mentions(c.Check, own)
			if !overlap(own, reads) && !overlap(own, touched) {
				continue
			}
			for name := range own {
				again = again || !reads[name]
				reads[name] = true
			}
		}
	}
	var out []string
	for _, c := range slices.Concat(s.table.Keys, s.table.Columns) {
		if reads[c.Name] {
			out = append(out, c.Name)
		}
	}
	if reads[s.table.Version] {
		out = append(out, s.table.Version)
	}
	return out
}

// mentions adds the columns that an expression reads.
func mentions(e *model.Expr, into map[string]bool) {
	if e == nil {
		return
	}
	for _, p := range e.Parts {
		if p.Kind == model.ColumnRef {
			into[p.Text] = true
		}
	}
}

func overlap(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

// required are the columns without which no row can be inserted; of a row that
// is created, all that its creator gives.
func (s *scene) required() []*model.Column {
	out := slices.Clone(s.table.Keys)
	for _, c := range s.table.Columns {
		if s.created && slices.Contains(s.creator, c) || !c.Optional && c.Default == nil {
			out = append(out, c)
		}
	}
	return out
}

// arguments makes the parameters of a call: those of an earlier one where it
// tells a fact again.
func (s *scene) arguments(i int) {
	call := &s.calls[i]
	said := s.said(call.Again - 1)
	facts := s.told(i)
	for n, p := range call.Event.Params {
		identity := slices.Contains(call.Event.Identity, p)
		if said != nil && (identity || !call.Differs) {
			call.params, call.fixed = append(call.params, said.params[n]), append(call.fixed, said.fixed[n])
			continue
		}
		told := 0
		if identity {
			told = facts
		}
		place := s.add(s.finder.ofParam(call.Event, p, told))
		s.symbols[place].Name = numbered("@"+p.Name, len(s.past)+i)
		call.params, call.fixed = append(call.params, place), append(call.fixed, Value{})
	}
	for n, p := range call.Event.Params {
		if p.Check != nil {
			s.check(i, p.Check)
		}
		if place := call.params[n]; place >= 0 && s.symbols[place].Kind == logic.Text && identifies(call.Event, p) {
			s.clause(identifier(s.symbols[place].Name)+" <> ''", []int{place}, "")
		}
	}
	if said != nil {
		if call.Differs {
			s.differs(call, said, call.Event.Fingerprint)
		}
		return
	}
	for j := range len(s.past) + i {
		if earlier := s.said(j); earlier.Event == call.Event && earlier.Again == 0 {
			s.differs(call, earlier, call.Event.Identity)
		}
	}
}

// said returns the call of a number, counted from the first of all; nil for -1.
func (s *scene) said(n int) *step {
	switch {
	case n < 0:
		return nil
	case n >= len(s.past):
		return &s.calls[n-len(s.past)]
	}
	out := &step{Call: s.past[n].call, fixed: s.past[n].params}
	for range out.fixed {
		out.params = append(out.params, -1)
	}
	return out
}

// told is how many facts the calls before one have told of its event.
func (s *scene) told(i int) int {
	n := s.calls[i].Told
	for j := range len(s.past) + i {
		if earlier := s.said(j); earlier.Event == s.calls[i].Event && earlier.Again == 0 {
			n++
		}
	}
	return n
}

// differs says that one of some parameters is not what it is in another call of
// the same event.
func (s *scene) differs(a, b *step, params []*model.Param) {
	var ways []string
	var uses []int
	side := func(c *step, n int) string {
		if c.params[n] < 0 {
			return typed(c.fixed[n].SQL, c.Event.Params[n].Type)
		}
		uses = append(uses, c.params[n])
		return identifier(s.symbols[c.params[n]].Name)
	}
	for _, p := range params {
		n := slices.Index(a.Event.Params, p)
		ways = append(ways, side(a, n)+" <> "+side(b, n))
	}
	if len(ways) > 0 {
		s.clause(strings.Join(ways, " OR "), uses, "")
	}
}

func (s *scene) clause(sql string, uses []int, people string) {
	if slices.ContainsFunc(s.clauses, func(c clause) bool { return c.ask == logic.Ask{SQL: sql} }) {
		return
	}
	s.clauses = append(s.clauses, clause{ask: logic.Ask{SQL: sql}, uses: uses, people: people, defines: -1})
}

// check adds a CHECK, as it stands when a call comes.
func (s *scene) check(i int, e *model.Expr) {
	sql, uses := s.render(i, e)
	n := len(s.clauses)
	s.clause("("+sql+") IS NOT FALSE", uses, "")
	if len(s.clauses) > n {
		s.clauses[n].check = true
	}
}

// must adds one condition of a call.
func (s *scene) must(i int, c Condition) {
	sql, uses := s.render(i, c.Expr)
	switch {
	case c.Bound > 0:
		s.clauses = append(s.clauses, clause{ask: logic.Ask{SQL: sql, Bound: c.Bound, Steps: c.Steps, Decides: c.Decides}, uses: uses, defines: -1})
	case c.Untrue:
		s.clause("("+sql+") IS NOT TRUE", uses, c.String())
	default:
		s.clause(sql, uses, c.String())
	}
}

// assign gives the columns that a call sets new variables, and says what they
// are. All of them are computed from the row as it was.
func (s *scene) assign(i int) {
	call := &s.calls[i]
	set := map[string]int{}
	for _, a := range call.Set {
		if a.Column == nil || a.Value == nil {
			call.after = append(call.after, -1)
			continue
		}
		sql, uses := s.render(i, a.Value)
		place := s.add(s.finder.ofSet(a.Column))
		s.symbols[place].Name = a.Column.Name + "#set" + strconv.Itoa(len(s.past)+i)
		s.define(place, sql, uses)
		call.after = append(call.after, place)
		set[a.Column.Name] = place
	}
	if before, read := s.columns[s.table.Version]; read {
		place := s.add(s.finder.version)
		s.symbols[place].Name = s.table.Version + "#set" + strconv.Itoa(len(s.past)+i)
		s.symbols[place].natural, s.symbols[place].key = nil, "version"
		s.define(place, identifier(s.symbols[before].Name)+" + 1", []int{before})
		set[s.table.Version] = place
	}
	if fixed, is := s.known[s.table.Version]; is {
		s.known[s.table.Version] = "(" + fixed + " + 1)"
	}
	for name, place := range set { // in any order: nothing is written here
		s.columns[name] = place
		delete(s.known, name)
	}
	set[s.table.Status.Column] = 0
	s.state = call.To
	s.checks(set)
}

// define says what a column's new value is.
func (s *scene) define(place int, sql string, uses []int) {
	s.clauses = append(s.clauses, clause{
		ask:  logic.Ask{SQL: identifier(s.symbols[place].Name) + " IS NOT DISTINCT FROM (" + sql + ")"},
		uses: append(uses, place), defines: place,
	})
}

// checks adds the CHECKs that speak of some of these columns, as they are now.
func (s *scene) checks(of map[string]int) {
	for _, c := range s.table.Columns {
		own := map[string]bool{}
		mentions(c.Check, own)
		for name := range own {
			if _, concerned := of[name]; concerned {
				s.check(0, c.Check)
				break
			}
		}
	}
}
