package simulate

import (
	"errors"
	"fmt"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Condition is a guard or a check that was looked at, and what it came to.
type Condition struct {
	// Of names it, as [Choice] does.
	Of    string
	Expr  *model.Expr
	Truth Truth
	// Cannot says why the condition cannot be worked out here; empty for one that
	// was. Truth is then what the reader chose, Untold where nothing is chosen.
	Cannot string
	// Assumed says that the condition is a check which is taken for true since
	// nobody chose anything.
	Assumed bool
}

// openError ends a call that hangs on a guard of which nobody knows the truth.
type openError struct{}

func (openError) Error() string { return "a guard hangs on a choice" }

// observer judges the expressions of one step, and remembers what it was asked.
type observer struct {
	judge *evaluate.Judge
	step  *Step
	// names has what the conditions that a call may ask are called.
	names map[*model.Expr]string
	// guards are the names of those that are guards.
	guards map[*model.Expr]bool
	seen   []Condition
	// blind are the values that could not be worked out.
	blind []*model.Expr
}

var _ oracle.Judge = (*observer)(nil)

// observe makes the judge of a step. The cell may be nil.
func (m *Machine) observe(s *Step, e *model.Event, cell *model.Cell) *observer {
	o := &observer{judge: m.judge, step: s, names: map[*model.Expr]string{}, guards: map[*model.Expr]bool{}}
	for _, c := range m.played.Table.Columns {
		if c.Check != nil {
			o.names[c.Check] = c.Name
		}
	}
	if e != nil {
		for _, p := range e.Params {
			if p.Check != nil {
				o.names[p.Check] = "@" + p.Name
			}
		}
	}
	if cell != nil {
		for i, t := range cell.Transitions {
			if t.Guard != nil && o.names[t.Guard.SQL] == "" {
				o.names[t.Guard.SQL], o.guards[t.Guard.SQL] = fmt.Sprint(i+1), true
			}
		}
	}
	return o
}

// Holds asks what the condition comes to, or what was chosen.
func (o *observer) Holds(e *model.Expr, in oracle.Context) (truth, known bool, err error) {
	c := Condition{Of: o.names[e], Expr: e}
	truth, known, err = o.judge.Holds(e, in)
	var unsupported *evaluate.Unsupported
	if errors.As(err, &unsupported) {
		c.Cannot = cannot(e, in, unsupported)
		switch c.Truth = o.step.choice(c.Of); {
		case c.Truth == Untold && o.guards[e]:
			o.seen = append(o.seen, c)
			return false, false, openError{}
		case c.Truth == Untold:
			c.Truth, c.Assumed = True, true
		}
		o.seen = append(o.seen, c)
		return c.Truth == True, c.Truth != Null, nil
	}
	if err == nil {
		c.Truth = truthOf(truth, known)
		o.seen = append(o.seen, c)
	}
	return truth, known, err
}

// Value asks what an expression gives. What cannot be worked out is not known from
// there on.
func (o *observer) Value(e *model.Expr, in oracle.Context) (any, error) {
	v, err := o.judge.Value(e, in)
	var unsupported *evaluate.Unsupported
	if errors.As(err, &unsupported) {
		o.blind = append(o.blind, e)
		return oracle.Untold{}, nil
	}
	return v, err
}

// cannot says why a condition is not worked out: it reads a value that is not
// known, or it has something that evaluate does not do.
func cannot(e *model.Expr, in oracle.Context, err *evaluate.Unsupported) string {
	for _, p := range e.Parts {
		if _, untold := in.Row[p.Text].(oracle.Untold); p.Kind == model.ColumnRef && untold {
			return p.Text
		}
	}
	return err.Construct
}

// guard returns what a guard of a cell came to, nil where it was not looked at.
func (o *observer) guard(g *model.Guard) *Condition {
	for i := range o.seen {
		if o.seen[i].Expr == g.SQL && o.guards[g.SQL] {
			return &o.seen[i]
		}
	}
	return nil
}

// checks are the conditions looked at that are no guards, as far as they are false
// or were not worked out.
func (o *observer) checks() []Condition {
	var out []Condition
	for _, c := range o.seen {
		if !o.guards[c.Expr] && (c.Truth == False || c.Cannot != "") {
			out = append(out, c)
		}
	}
	return out
}
