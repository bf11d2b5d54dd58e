package genroles

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Calls returns a Go file of sqlc's in which the machines' statements that write are
// calls of their functions. Parameters, rows and names stay as they are.
func Calls(file []byte, machines []Machine, n Names) ([]byte, error) {
	calls := map[string]string{}
	for _, m := range machines {
		for _, s := range m.Statements {
			does, err := usesOf(s.SQL)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			if does.writes() {
				calls[s.Name] = s.call(n)
			}
		}
	}
	tree, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	type place struct {
		from, to int
		text     string
	}
	var places []place
	ast.Inspect(tree, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		head, ok := headOf(spec.Values[0])
		if !ok {
			return true
		}
		if call := calls[nameIn(head)]; call != "" {
			text := "`" + head + "\n" + call + "\n`"
			places = append(places, place{int(spec.Values[0].Pos()) - 1, int(spec.Values[0].End()) - 1, text})
		}
		return true
	})
	slices.Reverse(places)
	for _, p := range places {
		file = slices.Concat(file[:p.from], []byte(p.text), file[p.to:])
	}
	return file, nil
}

// headOf is the first line of a constant that is a statement of sqlc's.
func headOf(value ast.Expr) (string, bool) {
	for {
		sum, ok := value.(*ast.BinaryExpr) // where the text has a back quote
		if !ok {
			break
		}
		value = sum.X
	}
	lit, ok := value.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(text, "\n")
	return line, nameIn(line) != ""
}

// nameIn is the name in the first line of a statement, empty for another line.
func nameIn(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 4 || fields[0] != "--" || fields[1] != "name:" {
		return ""
	}
	return fields[2]
}
