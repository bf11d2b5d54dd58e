package bypass

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
)

// trigger is one on a guarded table.
type trigger struct {
	table       *Guarded
	before, row bool
	events      int32
	// sometimes says that it may leave a machine's write alone: it has WHEN, or
	// names columns.
	sometimes bool
}

// Bits of PostgreSQL's catalog, in which its grammar gives when a trigger fires.
const (
	triggerBefore int32 = 1 << 1
	triggerInsert int32 = 1 << 2
	triggerDelete int32 = 1 << 3
	triggerUpdate int32 = 1 << 4
)

func triggerOf(t *pg.CreateTrigStmt, on *Guarded) trigger {
	return trigger{
		table: on, before: t.GetTiming() == triggerBefore, row: t.GetRow(), events: t.GetEvents(),
		sometimes: t.GetWhenClause() != nil || len(t.GetColumns()) > 0,
	}
}

func (t trigger) on(event int32) bool { return t.events&event != 0 }

// answer is what a RETURN of a trigger function gives, in small letters.
type answer struct {
	line int
	text string
}

// returned judges what a trigger function gives back. Before a write, NULL
// undoes it, and OLD undoes what it changes; the machine's own statement then
// finds no row of its own making, and fails. A DELETE is no write of a machine.
func (b *body) returned(tree any) {
	answers := answersOf(tree, 1)
	only := !slices.ContainsFunc(answers, func(a answer) bool { return a.text != "null" && a.text != "old" })
	for _, tr := range b.serves {
		if !tr.before || !tr.row || !tr.on(triggerInsert|triggerUpdate) {
			continue
		}
		for _, a := range answers {
			switch {
			case a.text != "null" && a.text != "old":
			case only && !tr.sometimes:
				b.reader.add(b.answered(a), CodeDisarms, diag.Error, fmt.Sprintf(
					"the trigger gives back %s before every write to %q, so that each call of machine %q fails; give back NEW", strings.ToUpper(a.text), tr.table.Table, tr.table.Machine))
			case a.text == "old" && tr.on(triggerDelete): // for a DELETE it is right
			default:
				b.reader.unread(b.answered(a), fmt.Sprintf(
					"the trigger may give back %s before a write to %q, and a call of machine %q then fails; look when it does", strings.ToUpper(a.text), tr.table.Table, tr.table.Machine))
			}
		}
	}
}

// answered is the place of a RETURN, each found once for a line.
func (b *body) answered(a answer) int {
	from := b.line(a.line)
	for i := b.p.from(from); i+1 < len(b.p.tokens); i++ {
		if lower(b.p.text(b.p.tokens[i])) == "return" && lower(b.p.text(b.p.tokens[i+1])) == a.text {
			return b.p.at(b.p.tokens[i].start)
		}
	}
	return b.p.at(from)
}

// answersOf lists the RETURNs of a tree in a fixed order, less those right
// behind a RAISE EXCEPTION, which are not come to.
func answersOf(tree any, line int) []answer {
	var out []answer
	switch tree := tree.(type) {
	case []any:
		for i, item := range tree {
			if i == 0 || !raises(tree[i-1]) {
				out = append(out, answersOf(item, line)...)
			}
		}
	case map[string]any:
		if n, ok := tree["lineno"].(float64); ok {
			line = int(n)
		}
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			if key == "PLpgSQL_stmt_return" {
				out = append(out, answerOf(tree[key], line))
				continue
			}
			out = append(out, answersOf(tree[key], line)...)
		}
	}
	return out
}

func answerOf(tree any, line int) answer {
	statement, _ := tree.(map[string]any)
	if n, ok := statement["lineno"].(float64); ok {
		line = int(n)
	}
	wrapper, _ := statement["expr"].(map[string]any)
	expr, _ := wrapper["PLpgSQL_expr"].(map[string]any)
	text, _ := expr["query"].(string)
	return answer{line, lower(strings.Trim(text, " \t\r\n()"))}
}

// levelError is RAISE EXCEPTION, also when no level is written.
const levelError = 21

// raises reports whether the statement is a RAISE that ends the function.
func raises(tree any) bool {
	statement, _ := tree.(map[string]any)
	raise, ok := statement["PLpgSQL_stmt_raise"].(map[string]any)
	level, _ := raise["elog_level"].(float64)
	return ok && int(level) >= levelError
}
