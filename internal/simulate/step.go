package simulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// create creates the row. A key that is not said is the first that its type has.
func (p *player) create() {
	m := p.Machine.played
	var columns []*model.Column
	columns = append(columns, m.Table.Keys...)
	columns = append(columns, m.Created()...)
	params, problem := p.columns(columns)
	if problem == nil {
		problem = choosable(&p.Step, nil, nil, m.Table)
	}
	for _, c := range m.Created() {
		if problem == nil && params[c.Name] == nil && !c.Optional && c.Default == nil {
			problem = &Problem{Code: Missing, Name: c.Name, Type: c.Type.SQL}
		}
	}
	if problem != nil {
		p.unfit(problem)
		return
	}
	for _, c := range m.Table.Keys {
		if params[c.Name] == nil {
			params[c.Name], problem = read(c.Name, c.Type, p.Machine.key(c))
		}
		if problem != nil {
			p.unfit(problem)
			return
		}
	}
	o := p.Machine.observe(&p.Step, nil, nil)
	for _, c := range m.Created() {
		held, err := evaluate.Stored(c.Type, params[c.Name])
		if p.ended(o, err) {
			return
		}
		params[c.Name] = held
	}
	next, answer, err := p.world.Create(m, o, row, params, p.Now)
	if p.ended(o, err) {
		return
	}
	p.answered(o, next, answer)
}

// columns reads the values of columns that a step gives.
func (p *player) columns(columns []*model.Column) (oracle.Values, *Problem) {
	values := oracle.Values{}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
		if text, given := p.Step.Arg(c.Name); given {
			v, problem := read(c.Name, c.Type, text)
			if problem != nil {
				return nil, problem
			}
			values[c.Name] = v
		}
	}
	return values, strange(NoColumn, p.Step.Args, names)
}

// begin puts the row where the step says that it is. A column that is left out is
// NULL where it may be, else it has its default, or is not known.
func (p *player) begin() {
	m := p.Machine.played
	state := m.State(p.Step.Name)
	switch {
	case p.there:
		p.unfit(&Problem{Code: NotFirst, Name: wordGiven})
		return
	case state == nil:
		p.unfit(noState(p.Machine.Model, p.Step.Name))
		return
	}
	values, problem := p.columns(append(slices.Clone(m.Table.Keys), m.Table.Columns...))
	if problem == nil {
		problem = choosable(&p.Step, nil, nil, nil)
	}
	if problem != nil {
		p.unfit(problem)
		return
	}
	r := oracle.Row{State: state, Version: max(p.Step.Version, 1), Columns: oracle.Values{}, Key: oracle.Values{}, Past: oracle.Before()}
	r.Made = r.Past.Transition
	for _, c := range m.Table.Keys {
		if v, given := values[c.Name]; given {
			r.Key[c.Name] = v
		}
	}
	o := p.Machine.observe(&p.Step, nil, nil)
	for _, c := range m.Table.Columns {
		v, given := values[c.Name]
		if !given && !c.Optional {
			v = oracle.Untold{}
			if c.Default != nil {
				var err error
				if v, err = o.Value(c.Default, oracle.Context{Now: p.Now}); p.ended(o, err) {
					return
				}
			}
		}
		r.Columns[c.Name] = v
	}
	if state.Deadline != nil {
		r.Due = p.Now.Add(state.Deadline.After)
	}
	p.answered(o, p.world.With(row, r), oracle.Answer{Outcome: Began})
	p.Blind = o.blind
}

// sweep is the deadline sweep, as far as it sees the row.
func (p *player) sweep() {
	if problem := strange(NoParam, p.Step.Args, nil); problem != nil {
		p.unfit(problem)
		return
	}
	if !p.there || p.row.Due.IsZero() || p.row.Due.After(p.Now) {
		p.Outcome = NothingDue
		return
	}
	e := p.row.State.Deadline.Event
	p.Event = e
	before := p.world
	p.call(oracle.Call{Event: e, Key: row, Now: p.Now})
	if p.Outcome != oracle.Applied && p.Problem == nil {
		p.world = before // what does not move the row, a sweep leaves alone
		p.Emits, p.Fact = nil, nil
	}
}

// correct forces the row into a state.
func (p *player) correct() {
	state := p.Machine.Model.State(p.Step.Name)
	problem := strange(NoParam, p.Step.Args, nil)
	switch {
	case state == nil:
		problem = noState(p.Machine.Model, p.Step.Name)
	case problem == nil:
		problem = choosable(&p.Step, nil, nil, nil)
	}
	if problem != nil {
		p.unfit(problem)
		return
	}
	if p.Retired = state.Retired; p.Retired {
		p.Outcome = oracle.BadArgument
		return
	}
	next, answer := p.world.Correct(row, state, p.Step.Version, p.Now)
	if p.overflows(answer) {
		return
	}
	p.answered(&observer{}, next, answer)
}

// choosable refuses a choice of what is no condition of the step.
func choosable(s *Step, e *model.Event, cell *model.Cell, t *model.Table) *Problem {
	for _, c := range s.Choices {
		at, err := strconv.Atoi(c.Of)
		param, isParam := strings.CutPrefix(c.Of, "@")
		switch {
		case err == nil && cell != nil && at >= 1 && at <= len(cell.Transitions) && cell.Transitions[at-1].Guard != nil:
		case err == nil && cell == nil && e != nil: // there is no row yet: nothing hangs on it
		case isParam && e != nil && slices.ContainsFunc(e.Params, func(p *model.Param) bool { return p.Name == param && p.Check != nil }):
		case t != nil && slices.ContainsFunc(t.Columns, func(o *model.Column) bool { return o.Name == c.Of && o.Check != nil }):
		default:
			return &Problem{Code: NoChoice, Name: c.Of}
		}
	}
	return nil
}
