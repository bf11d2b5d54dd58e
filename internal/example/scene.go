package example

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// scene is a problem in the terms of package logic: every parameter of every
// call is a variable of its own, and so is a column each time that it is set.
type scene struct {
	finder  *Finder
	table   *model.Table
	created bool
	// creator has the columns that a creator gives.
	creator []*model.Column
	symbols []symbol
	// row has the place of each column's variable before the first call, columns
	// that of today.
	row, columns map[string]int
	// known are the columns with a fixed value, as SQL with a type.
	known map[string]string
	// start is what was known of the row before the first call.
	start map[string]string
	// state is where the row stands.
	state *model.State
	calls []step
	// past are the calls that were solved before, with their values.
	past []past
	// clauses are what must hold.
	clauses []clause
	// unsure has the variables of which the solution leaves something to the
	// database: see dark.
	unsure map[int]bool
}

// symbol is a variable of a scene.
type symbol struct {
	logic.Var
	// people is what people call it.
	people string
	typ    model.Type
	// natural are the values that are tried first, as SQL.
	natural []string
	// key is equal for variables that differ in nothing but their names.
	key string
}

// keyed completes a variable.
func keyed(v symbol) symbol {
	plain := v.Var
	plain.Name = ""
	v.key = fmt.Sprintf("%v %q", plain, v.natural)
	return v
}

// step is one call in a scene.
type step struct {
	Call
	// params has the variables of the parameters, -1 for one that is fixed.
	params []int
	fixed  []Value
	// after has the variables of the columns that are set, in order.
	after []int
}

// past is a call that was solved before.
type past struct {
	call   Call
	params []Value
}

// clause is a condition of a scene.
type clause struct {
	ask  logic.Ask
	uses []int
	// people says it for people, unless it goes without saying.
	people string
	// defines is the variable of a column whose new value the clause says, or -1.
	defines int
	// check says that the clause is a CHECK, which the database looks at anyway.
	check bool
}

// read returns the variable of a column as it is now, or false for one that has
// a known value or is none.
func (s *scene) read(name string) (place int, free bool) {
	if place, there := s.columns[name]; there {
		return place, true
	}
	if _, fixed := s.known[name]; fixed {
		return 0, false
	}
	v, ok := s.column(name)
	if !ok {
		return 0, false
	}
	place = s.add(v)
	s.row[name], s.columns[name] = place, place
	return place, true
}

// column makes the variable of a column before the first call. A column that a
// creator does not give is no variable but its default.
func (s *scene) column(name string) (symbol, bool) {
	if name == s.table.Version {
		if s.created {
			s.known[name] = "(1)::" + s.table.VersionType
		}
		return s.finder.version, !s.created
	}
	c := s.table.Column(name)
	key := slices.IndexFunc(s.table.Keys, func(k *model.Column) bool { return k.Name == name })
	if key >= 0 {
		c = s.table.Keys[key]
	}
	if c == nil {
		return symbol{}, false
	}
	if s.created && key < 0 && !slices.Contains(s.creator, c) {
		if value, plain := byDefault(c); plain {
			s.known[name] = value
			return symbol{}, false
		}
	}
	return s.finder.ofColumn(c, key < 0 && !s.finder.assigned.has(s.table, s.state, c)), true
}

// byDefault is what a column holds when it is not given, where that is plain.
func byDefault(c *model.Column) (string, bool) {
	if c.Default == nil {
		return typed("NULL", c.Type), true
	}
	literal, ok := plainDefault(c)
	return typed(literal, c.Type), ok
}

func (s *scene) add(v symbol) int {
	s.symbols = append(s.symbols, v)
	return len(s.symbols) - 1
}

// render writes an expression as it stands when a call comes: the state and what
// is known as constants, everything else as variables.
func (s *scene) render(call int, e *model.Expr) (sql string, uses []int) {
	var b strings.Builder
	use := func(place int) {
		b.WriteString(identifier(s.symbols[place].Name))
		if !slices.Contains(uses, place) {
			uses = append(uses, place)
		}
	}
	for i := 0; i < len(e.Parts); i++ {
		switch p := e.Parts[i]; p.Kind {
		case model.Now:
			moment, rest := nowAnd(e.Parts[i+1:])
			b.WriteString(moment)
			if rest != "" {
				b.WriteString(rest)
				i++
			}
		case model.ParamRef:
			n := slices.Index(s.calls[call].Event.Params, p.Param)
			if place := s.calls[call].params[n]; place >= 0 {
				use(place)
			} else {
				b.WriteString(typed(s.calls[call].fixed[n].SQL, p.Param.Type))
			}
		case model.ColumnRef:
			switch place, free := s.read(p.Text); {
			case p.Text == s.table.Status.Column:
				b.WriteString(s.status())
			case free:
				use(place)
			case s.known[p.Text] != "":
				b.WriteString(s.known[p.Text])
			default:
				b.WriteString(identifier(p.Text))
			}
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String(), uses
}

// status is what the status column holds, as a constant.
func (s *scene) status() string {
	text := s.table.Status.Text(s.state.Name, s.state.Code)
	if s.table.Status.Storage == model.StoredCode {
		return "(" + text + ")::" + s.table.Status.Type
	}
	return quote(text) + "::text"
}

// identifier quotes a name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// numbered is the name of a variable of one call: those of the first call, or of
// the row before it, have the plain name.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "#" + strconv.Itoa(n)
}
