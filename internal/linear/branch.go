package linear

import (
	"errors"
	"slices"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// brancher is a judge that knows an answer to everything: where the one that it asks
// has none, the picks say it, and it notes that it had to ask them.
type brancher struct {
	m     *model.Machine
	judge oracle.Judge
	picks []bool
	at    int
	asked bool
}

// next turns to the picks that have not been tried yet, and reports whether there are any.
func (b *brancher) next() bool {
	for len(b.picks) > 0 && !b.picks[len(b.picks)-1] {
		b.picks = b.picks[:len(b.picks)-1]
	}
	if len(b.picks) == 0 {
		return false
	}
	b.picks[len(b.picks)-1] = false
	b.at = 0
	return true
}

// Holds asks the judge, and where it cannot tell tries true first. The error is an
// *evaluate.Failure: PostgreSQL gives no answer either.
func (b *brancher) Holds(e *model.Expr, in oracle.Context) (truth, known bool, err error) {
	if b.tells(e, in) {
		truth, known, err := b.judge.Holds(e, in)
		if err == nil || fails(err, e, in) {
			return truth, known, err
		}
	}
	b.asked = true
	if b.at == len(b.picks) {
		b.picks = append(b.picks, true)
	}
	b.at++
	return b.picks[b.at-1], true, nil
}

// Value asks the judge, and where it cannot tell the value is untold. The error is as
// that of Holds.
func (b *brancher) Value(e *model.Expr, in oracle.Context) (any, error) {
	// The oracle asks for every default, also for those that are not needed.
	preset := slices.ContainsFunc(b.m.Table.Columns, func(c *model.Column) bool { return c.Default == e })
	if b.tells(e, in) {
		v, err := b.judge.Value(e, in)
		if err == nil || !preset && fails(err, e, in) {
			return v, err
		}
	}
	if !preset && len(e.Parts) == 1 && e.Parts[0].Kind == model.Now {
		return moment{}, nil
	}
	return oracle.Untold{}, nil
}

// moment stands for a time that is not known, and is not NULL.
type moment struct{}

// String is for those who read a refusal.
func (moment) String() string { return "a time" }

// fails reports whether PostgreSQL certainly fails to work the expression out. It may
// come to an answer without what fails: where another condition decides, and where a
// parameter is NULL, which may be all that it looks at.
func fails(err error, e *model.Expr, in oracle.Context) bool {
	var f *evaluate.Failure
	return errors.As(err, &f) && !f.Passed &&
		!slices.ContainsFunc(e.Parts, func(p model.Part) bool { return p.Kind == model.ParamRef && in.Params[p.Text] == nil })
}

// tells reports whether all is known that the expression hangs on. The due time is not:
// it is reckoned from a clock that histories seldom have.
func (b *brancher) tells(e *model.Expr, in oracle.Context) bool {
	return !slices.ContainsFunc(e.Parts, func(p model.Part) bool {
		switch p.Kind {
		case model.Now:
			return in.Now.IsZero()
		case model.ColumnRef:
			v := in.Row[p.Text]
			return v == any(oracle.Untold{}) || v == any(moment{}) || p.Text == b.m.Table.Deadline && v != nil
		case model.ParamRef:
			return in.Params[p.Text] == any(oracle.Untold{})
		}
		return false
	})
}
