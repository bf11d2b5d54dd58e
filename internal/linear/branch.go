package linear

import (
	"slices"

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

// Holds asks the judge, and where it cannot tell tries true first.
func (b *brancher) Holds(e *model.Expr, in oracle.Context) (truth, known bool, err error) {
	if b.tells(e, in) {
		if truth, known, err := b.judge.Holds(e, in); err == nil {
			return truth, known, nil
		}
	}
	b.asked = true
	if b.at == len(b.picks) {
		b.picks = append(b.picks, true)
	}
	b.at++
	return b.picks[b.at-1], true, nil
}

// Value asks the judge, and where it cannot tell the value is untold.
func (b *brancher) Value(e *model.Expr, in oracle.Context) (any, error) {
	if b.tells(e, in) {
		if v, err := b.judge.Value(e, in); err == nil {
			return v, nil
		}
	}
	return oracle.Untold{}, nil
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
			return v == any(oracle.Untold{}) || p.Text == b.m.Table.Deadline && v != nil
		case model.ParamRef:
			return in.Params[p.Text] == any(oracle.Untold{})
		}
		return false
	})
}
