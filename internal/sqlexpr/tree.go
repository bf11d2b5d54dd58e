package sqlexpr

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Error returns the issue's message, so that an Issue can be given as an error.
func (i Issue) Error() string { return i.Message }

// Tree returns PostgreSQL's parse tree of a fragment, and the name of each of
// its parameters by the number that its nodes have; a parameter that is used
// twice has one number. The error is an Issue, the first of those found, when
// the text cannot be read as one expression.
//
// Names, types and what an expression may do are not judged: that is Parse's
// work. Locations in the tree are of a text in which parameters are numbers,
// and say nothing about source. Tree is safe for concurrent use and never
// panics.
func Tree(source string) (*pg.Node, map[int32]string, error) {
	w := &walker{source: source}
	var top *pg.Node
	names := map[int32]string{}
	if masked, ok := w.read(); ok {
		top = w.tree(w.number(masked, names))
	}
	if len(w.issues) > 0 {
		return nil, nil, w.issues[0]
	}
	return top, names, nil
}

// number returns the masked text with a number of its own for each parameter,
// and enters the names.
func (w *walker) number(masked string, names map[int32]string) string {
	numbers := map[string]int32{}
	var text strings.Builder
	at := 0
	for i, t := range w.tokens {
		name, ok := w.params[t.end-1]
		if !ok || i+1 >= len(w.tokens) {
			continue
		}
		if numbers[name] == 0 {
			numbers[name] = int32(len(numbers) + 1)
			names[numbers[name]] = name
		}
		text.WriteString(masked[at : t.end-1])
		text.WriteString("$" + strconv.Itoa(int(numbers[name])))
		at = w.tokens[i+1].end
	}
	text.WriteString(masked[at:])
	return text.String()
}
