package mutate

import (
	"fmt"
	"strings"
)

// makes returns what a statement makes that a later one can make again under the
// same name, empty for any other statement.
func (n *node) makes() string {
	switch n.kind {
	case "CreateFunctionStmt":
		return "function " + strings.Join(n.names("funcname"), ".")
	case "CreateTrigStmt":
		return "trigger " + n.str("trigname")
	}
	return ""
}

// madeAgain notes of each migration which of its functions and triggers a later
// one makes again. Nothing is left of them, and no test could notice how they
// were broken; the error is the parser's.
func madeAgain(migrations []*Source) error {
	later := map[string]bool{}
	for i := len(migrations) - 1; i >= 0; i-- {
		s := migrations[i]
		t, err := read(s.Text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", s.File, s.Line, err)
		}
		s.again = map[string]bool{}
		var made []string
		for _, r := range t.roots {
			if what := r.makes(); what != "" {
				s.again[what] = later[what]
				made = append(made, what)
			}
		}
		for _, what := range made {
			later[what] = true
		}
	}
	return nil
}

// lasting returns the statements of a text of which something is left.
func (s *Source) lasting(t *text) []*node {
	var out []*node
	for _, r := range t.roots {
		if !s.again[r.makes()] {
			out = append(out, r)
		}
	}
	return out
}
