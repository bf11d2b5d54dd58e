// Package evaluate works out the SQL expressions of a definition in Go: guards,
// checks, defaults and assigned values, as PostgreSQL 15 does in a session whose
// time zone is UTC. It is the judge that internal/oracle asks, and shares with the
// generator nothing but the parser: it walks the parse tree, resolves types by the
// rules of PostgreSQL's manual, and never asks a database.
//
// It does not know everything. What it cannot work out is an [Unsupported], at once
// and never a guess; a checker may then allow either branch. What PostgreSQL would
// refuse too, such as a sum that overflows, is a [Failure] with its SQLSTATE.
//
// AND and OR look at their conditions from left to right and stop where the answer
// is known. PostgreSQL promises no order, and works out early what it takes for
// constant: where a condition fails, it may come to an answer without that condition,
// and the [Failure] says so.
package evaluate

import (
	"fmt"
	"sync"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/sqlexpr"
)

// Unsupported is the error for an expression that this package does not know.
type Unsupported struct {
	// Construct says what it is: "function md5", "comparison of jsonb and text".
	Construct string
	// Pos is where the expression begins in its definition.
	Pos diag.Position
}

// Error names the place and the construct.
func (u *Unsupported) Error() string {
	return fmt.Sprintf("%s: %s cannot be worked out here", u.Pos, u.Construct)
}

// Failure is the error for an expression that PostgreSQL refuses to work out, for
// these values or for all.
type Failure struct {
	// State is the SQLSTATE, such as 22003.
	State   string
	Message string
	Pos     diag.Position
	// Passed says that a condition beside the one that failed decides AND or OR by
	// itself: PostgreSQL may come to that answer instead.
	Passed bool
}

// Error names the place, the SQLSTATE and what is wrong.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s: %s", f.Pos, f.State, f.Message) }

// Judge evaluates the expressions of one machine. It may be used by many goroutines.
type Judge struct {
	machine *model.Machine
	// kinds has the type of each column.
	kinds map[string]kind
	// takes has the column that an expression's value is for.
	takes map[*model.Expr]*model.Column
	terms sync.Map // *model.Expr to compiled
}

var _ oracle.Judge = (*Judge)(nil)

// compiled is an expression that was read, or why it cannot be.
type compiled struct {
	term
	err error
}

// For returns the judge of a machine, which must have a table.
func For(m *model.Machine) *Judge {
	j := &Judge{machine: m, kinds: map[string]kind{}, takes: map[*model.Expr]*model.Column{}}
	for _, columns := range [][]*model.Column{m.Table.Keys, m.Table.Columns} {
		for _, c := range columns {
			j.kinds[c.Name] = kindOf(c.Type)
			if c.Default != nil {
				j.takes[c.Default] = c
			}
		}
	}
	j.kinds[m.Table.Status.Column] = statusKind(m.Table.Status)
	j.kinds[m.Table.Version] = int8s
	if m.Table.VersionType == "integer" {
		j.kinds[m.Table.Version] = int4s
	}
	j.kinds[m.Table.Deadline] = moments
	j.kinds[m.Table.Runs] = int4s
	for _, t := range m.Transitions {
		for _, a := range t.Set {
			j.takes[a.Value] = a.Column
		}
	}
	return j
}

// Holds is the truth of a guard or a check. The error is an *Unsupported or a
// *Failure.
func (j *Judge) Holds(e *model.Expr, in oracle.Context) (truth, known bool, err error) {
	c := j.compiled(e)
	if c.err != nil {
		return false, false, c.err
	}
	t, err := c.as(bools)
	if err != nil {
		return false, false, at(err, e)
	}
	v, err := t.eval(&scope{j, in})
	if err != nil {
		return false, false, at(err, e)
	}
	truth, known = v.(bool)
	return truth, known, nil
}

// Value is what the column of a default or an assignment gets, rounded and bounded
// as the column's type says, and nil for NULL. See [Shown] for its Go types. The
// error is an *Unsupported or a *Failure. An expression that belongs to no column
// keeps its own type.
func (j *Judge) Value(e *model.Expr, in oracle.Context) (any, error) {
	c := j.compiled(e)
	if c.err != nil {
		return nil, c.err
	}
	t, err := c.term, error(nil)
	if column := j.takes[e]; column != nil {
		t, err = assigned(t, column.Type)
	} else if t.kind == unknown {
		t, err = t.as(texts)
	}
	if err != nil {
		return nil, at(err, e)
	}
	v, err := t.eval(&scope{j, in})
	if err != nil {
		return nil, at(err, e)
	}
	return shown(t.kind, v), nil
}

// compiled reads an expression once.
func (j *Judge) compiled(e *model.Expr) compiled {
	if c, ok := j.terms.Load(e); ok {
		return c.(compiled) //nolint:forcetypeassert // nothing else is stored
	}
	c := j.compile(e)
	j.terms.Store(e, c)
	return c
}

func (j *Judge) compile(e *model.Expr) compiled {
	top, names, err := sqlexpr.Tree(e.Source)
	if err != nil {
		return compiled{err: at(failure("42601", "%v", err), e)}
	}
	r := &reader{columns: j.kinds, params: map[int32]*model.Param{}, names: names}
	for n, name := range names {
		for _, p := range e.Params() {
			if p.Name == name {
				r.params[n] = p
			}
		}
	}
	t, err := r.read(top)
	if err != nil {
		return compiled{err: at(err, e)}
	}
	return compiled{term: t}
}

// at gives an error of this package the place of the expression.
func at(err error, e *model.Expr) error {
	switch err := err.(type) { //nolint:errorlint // they are made here and wrapped by nobody
	case *Unsupported:
		return &Unsupported{err.Construct, e.Pos}
	case *Failure:
		return &Failure{err.State, err.Message, e.Pos, err.Passed}
	}
	return err
}

func unsupported(format string, args ...any) error {
	return &Unsupported{Construct: fmt.Sprintf(format, args...)}
}

func failure(state, format string, args ...any) error {
	return &Failure{State: state, Message: fmt.Sprintf(format, args...)}
}

// SQLSTATEs of failures.
const (
	outOfRange   = "22003"
	divideByZero = "22012"
	badText      = "22P02"
	badDateText  = "22007"
	noSuchTime   = "22008"
	tooLong      = "22001"
	badTypes     = "42883"
	noSuchColumn = "42703"
)

// Stored is what a column of a type holds of a value that is given to it: rounded,
// without spaces that have no room. Values are as in [Shown]. The error is an
// *Unsupported or a *Failure without a place.
func Stored(t model.Type, value any) (any, error) {
	k := kindOf(t)
	v, err := load(k, value)
	if err != nil {
		return nil, err
	}
	held, err := assigned(constant(k, v), t)
	if err != nil {
		return nil, err
	}
	if v, err = held.eval(nil); err != nil {
		return nil, err
	}
	return shown(k, v), nil
}

// Read reads a text as PostgreSQL reads one for a type, in the spellings that this
// package knows. Values are as in [Shown]; of jsonb and bytea it is the text itself,
// which is not looked at. The error is an *Unsupported or a *Failure without a place.
func Read(t model.Type, text string) (any, error) {
	k := kindOf(t)
	if k == others {
		return text, nil
	}
	v, err := parse(k, text)
	if err != nil {
		return nil, err
	}
	return shown(k, v), nil
}
