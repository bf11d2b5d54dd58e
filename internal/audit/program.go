package audit

import (
	"encoding/json"
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// program is the body of a trigger's function, as far as it is made of what
// migrations write: IF, RETURN and RAISE. Like a condition it is judged here and
// not run in the database.
type program []command

// command is one of IF, RETURN and RAISE.
type command struct {
	branches []branch // of an IF, the ELSE as one that is always taken
	returns  bool
	raises   bool // what ends the statement
}

// branch is taken when its condition is true; without one, always.
type branch struct {
	when condition
	then program
}

// readProgram parses the text of a function in PL/pgSQL. The error is
// errForeign for anything that migrations do not write.
func readProgram(body string) (program, error) {
	// Whatever is declared could stand in the place of OLD, NEW or a column.
	tokens, err := pgparse.Scan(body)
	if err != nil {
		return nil, errForeign
	}
	for _, t := range tokens.GetTokens() {
		if t.GetToken() == pg.Token_SQL_COMMENT || t.GetToken() == pg.Token_C_COMMENT {
			continue
		}
		if t.GetToken() != pg.Token_BEGIN_P {
			return nil, errForeign
		}
		break
	}
	tag := "$fsm$"
	for n := 0; strings.Contains(body, tag); n++ {
		tag = fmt.Sprintf("$fsm%d$", n)
	}
	text, err := pgparse.PLpgSQL("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "+tag+body+tag, body)
	if err != nil {
		return nil, errForeign
	}
	var functions []struct {
		Function struct {
			Action statement `json:"action"`
		} `json:"PLpgSQL_function"`
	}
	if err := json.Unmarshal([]byte(text), &functions); err != nil || len(functions) != 1 {
		return nil, errForeign
	}
	block := functions[0].Function.Action.Block
	if block == nil || block.Exceptions != nil {
		return nil, errForeign
	}
	return readCommands(block.Body)
}

// statement is one of the parser's tree; one of another kind has no fields that
// are known.
type statement struct {
	Block *struct {
		Body       []statement `json:"body"`
		Exceptions any         `json:"exceptions"`
	} `json:"PLpgSQL_stmt_block"`
	If *struct {
		Cond   expression  `json:"cond"`
		Then   []statement `json:"then_body"`
		Elsifs []struct {
			Elsif struct {
				Cond  expression  `json:"cond"`
				Stmts []statement `json:"stmts"`
			} `json:"PLpgSQL_if_elsif"`
		} `json:"elsif_list"`
		Else []statement `json:"else_body"`
	} `json:"PLpgSQL_stmt_if"`
	Return *struct {
		Expr *expression `json:"expr"`
	} `json:"PLpgSQL_stmt_return"`
	Raise *struct {
		Level int `json:"elog_level"`
	} `json:"PLpgSQL_stmt_raise"`
}

type expression struct {
	Expr struct {
		Query string `json:"query"`
	} `json:"PLpgSQL_expr"`
}

// raiseException is the level of RAISE EXCEPTION; those below it go on.
const raiseException = 21

func readCommands(statements []statement) (program, error) {
	p := program{}
	for _, st := range statements {
		switch {
		case st.If != nil:
			branches := []branch{}
			add := func(cond string, then []statement) error {
				b := branch{}
				var err error
				if cond != "" {
					if b.when, err = readCondition(cond); err != nil {
						return err
					}
				}
				b.then, err = readCommands(then)
				branches = append(branches, b)
				return err
			}
			err := add(st.If.Cond.Expr.Query, st.If.Then)
			for _, e := range st.If.Elsifs {
				if err == nil {
					err = add(e.Elsif.Cond.Expr.Query, e.Elsif.Stmts)
				}
			}
			if err == nil && len(st.If.Else) > 0 {
				err = add("", st.If.Else)
			}
			if err != nil {
				return nil, err
			}
			p = append(p, command{branches: branches})
		case st.Return != nil && st.Return.Expr == nil: // the parser's own, behind the last statement: PostgreSQL raises an error there
			p = append(p, command{raises: true})
		case st.Return != nil:
			if row := strings.ToLower(st.Return.Expr.Expr.Query); row != "null" && row != "new" && row != "old" {
				return nil, errForeign
			}
			p = append(p, command{returns: true})
		case st.Raise != nil:
			p = append(p, command{raises: st.Raise.Level >= raiseException})
		default:
			return nil, errForeign
		}
	}
	return p, nil
}

// holds reports whether the function raises an error, which one that comes to its
// end does too. The error is errForeign.
func (p program) holds(columns scope) (bool, error) {
	ended, refused, err := p.follow(columns)
	return refused || !ended, err
}

// follow goes through the commands until one of them ends the function.
func (p program) follow(columns scope) (ended, refused bool, err error) {
	for _, c := range p {
		if c.returns || c.raises {
			return true, c.raises, nil
		}
		for _, b := range c.branches {
			taken := true
			if b.when.node != nil {
				if taken, err = b.when.holds(columns); err != nil {
					return false, false, err
				}
			}
			if !taken {
				continue
			}
			if ended, refused, err = b.then.follow(columns); ended || err != nil {
				return ended, refused, err
			}
			break
		}
	}
	return false, false, nil
}

// refusal is what a trigger and its function refuse together.
type refusal struct {
	when condition // without a node, the trigger fires always
	body string
	// function is read from the body, nil where it could not be: it is then taken
	// to refuse all that it is called for.
	function program
}

// holds reports whether the change of a row is refused. The error is errForeign.
func (r refusal) holds(columns scope) (bool, error) {
	if r.when.node != nil {
		if fires, err := r.when.holds(columns); !fires || err != nil {
			return false, err
		}
	}
	if r.function == nil {
		return true, nil
	}
	return r.function.holds(columns)
}
