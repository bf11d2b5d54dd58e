package bypass

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pgparse"
)

// body is the text of a function in PL/pgSQL.
type body struct {
	reader *reader
	p      *passage
	serves []trigger    // those that call it
	used   map[int]bool // the places of queries that were found already
}

// query is a piece of SQL in a body. Its line counts from 1 and is that of the
// statement it belongs to.
type query struct {
	line int
	text string
	// mode is the parser's: 0 a statement, 2 an expression, above an assignment.
	mode    int
	dynamic bool
	into    bool // text is the variable that a statement writes its result to
}

// tree reads what the parser made of the body.
func (b *body) tree(text string) {
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		b.reader.unread(b.p.at(0), "this body is not looked into: "+briefly(err))
		return
	}
	b.returned(tree)
	queries := gather(tree, 1, "", false)
	slices.SortStableFunc(queries, func(x, y query) int {
		return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(x.mode, y.mode), cmp.Compare(x.text, y.text))
	})
	for _, q := range queries {
		switch {
		case q.dynamic:
			b.execute(q)
		case q.into:
			b.assigned(b.line(q.line), q.text)
		default:
			b.query(q)
		}
	}
}

// gather lists the queries of a tree, which is what parent holds, in a fixed order.
func gather(tree any, line int, parent string, dynamic bool) []query {
	var out []query
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			out = append(out, gather(item, line, parent, dynamic)...)
		}
	case map[string]any:
		if n, ok := tree["lineno"].(float64); ok {
			line = int(n)
		}
		if text, ok := tree["query"].(string); ok {
			mode, _ := tree["parseMode"].(float64) // left out when it is 0
			return []query{{line: line, text: text, mode: int(mode), dynamic: dynamic}}
		}
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			switch inner := tree[key].(type) {
			case map[string]any, []any:
				if key == "target" {
					out = append(out, targets(inner, line)...)
					continue
				}
				runs := key == "dynquery" || dynamic && key == "PLpgSQL_expr" ||
					key == "query" && (parent == "PLpgSQL_stmt_dynexecute" || parent == "PLpgSQL_stmt_dynfors")
				out = append(out, gather(inner, line, key, runs)...)
			}
		}
	}
	return out
}

// targets lists the variables that a result goes to.
func targets(tree any, line int) []query {
	var out []query
	wrapper, _ := tree.(map[string]any)
	record, _ := wrapper["PLpgSQL_rec"].(map[string]any)
	if variable, ok := record["refname"].(string); ok {
		out = append(out, query{line: line, text: variable, into: true})
	}
	row, _ := wrapper["PLpgSQL_row"].(map[string]any)
	fields, _ := row["fields"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		if variable, ok := field["name"].(string); ok {
			out = append(out, query{line: line, text: variable, into: true})
		}
	}
	return out
}

// line returns the offset at which a line of the body begins.
func (b *body) line(n int) int {
	at := 0
	for ; n > 1; n-- {
		next := strings.IndexByte(b.p.sql[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return at
}

// query looks into one piece of SQL.
func (b *body) query(q query) {
	prefix, text := "", q.text
	if q.mode > 2 {
		b.assignment(q)
		return
	}
	if q.mode == 2 {
		prefix = "SELECT "
	}
	result, err := pgparse.Parse(prefix + text)
	at := b.locate(q)
	if err != nil {
		b.reader.unread(b.p.at(at(0)), "this is not looked into, since PostgreSQL cannot read it: "+briefly(err))
		return
	}
	p, _, _ := newPassage(prefix+text, func(n int) int { return b.p.at(at(max(0, n-len(prefix)))) })
	if p == nil {
		return // it was parsed, so it can be cut
	}
	for _, raw := range result.GetStmts() {
		b.reader.statement(p.statement(int(raw.GetStmtLocation()), len(p.sql), raw.GetStmt()))
	}
}

// locate returns the map from the query's bytes to the body's. The parser
// gives the text and the line alone, so the same tokens are looked for from
// there on, each place once.
func (b *body) locate(q query) func(int) int {
	from := b.line(q.line)
	p, _, _ := newPassage(q.text, nil)
	if p != nil && len(p.tokens) > 0 {
		for i := b.p.from(from); i < len(b.p.tokens); i++ {
			start := b.p.tokens[i].start
			shift := start - p.tokens[0].start
			perform := p.tokens[0].kind == pg.Token_SELECT && lower(b.p.text(b.p.tokens[i])) == "perform"
			if perform {
				shift++ // the parser writes SELECT over PERFORM's last letters
			}
			if q.dynamic && !b.behind(i, "execute") {
				continue
			}
			if !b.used[start] && !b.p.tokens[i].comment() && b.same(p, q.text, shift, perform) {
				b.used[start] = true
				return func(n int) int { return n + shift }
			}
		}
	}
	return func(int) int { return from }
}

// same reports whether all tokens of the query stand in the body, moved by shift.
func (b *body) same(p *passage, text string, shift int, perform bool) bool {
	for i, t := range p.tokens {
		if i == 0 && perform {
			continue
		}
		from, to := t.start+shift, t.end+shift
		if from < 0 || to > len(b.p.sql) || b.p.sql[from:to] != text[t.start:t.end] {
			return false
		}
	}
	return true
}

// execute judges SQL that is put together at run time. A constant is read.
func (b *body) execute(q query) {
	at := b.locate(q)
	place := at(0)
	if i := b.p.from(place); b.behind(i, "execute") {
		place = b.p.tokens[i-1].start
	}
	if result, err := pgparse.Parse("SELECT " + q.text); err == nil && len(result.GetStmts()) == 1 {
		targets := result.GetStmts()[0].GetStmt().GetSelectStmt().GetTargetList()
		if len(targets) == 1 {
			if value := targets[0].GetResTarget().GetVal().GetAConst().GetSval(); value != nil {
				if spell, _, ok := b.p.constant(at(0), value.GetSval()); ok {
					b.reader.nested(value.GetSval(), spell)
					return
				}
			}
		}
	}
	b.reader.unread(b.p.at(place), "EXECUTE runs SQL that is put together at run time, which is not looked into")
}

// assignment judges name := expression.
func (b *body) assignment(q query) {
	at := b.locate(q)
	p, _, _ := newPassage(q.text, nil)
	if p == nil {
		return
	}
	for i, t := range p.tokens {
		if text := p.text(t); text == ":=" || text == "=" {
			var variable strings.Builder
			for _, part := range p.tokens[:i] {
				if !part.comment() {
					variable.WriteString(p.identifier(part))
				}
			}
			b.assigned(at(0), variable.String())
			rest := query{line: q.line, text: q.text[t.end:], mode: 2}
			b.query(rest)
			return
		}
	}
}

// assigned judges a variable that gets a value: in a trigger function, NEW is
// the row that will be written.
func (b *body) assigned(from int, variable string) {
	record, column, _ := strings.Cut(variable, ".")
	if record != "new" {
		return
	}
	for _, tr := range b.serves {
		switch g := tr.table; {
		case column == "":
			b.reader.unread(b.p.at(b.p.word(from, len(b.p.sql), "new")),
				fmt.Sprintf("NEW is set as a whole in a trigger of %q; look that the columns of machine %q stay as they are", g.Table, g.Machine))
		case slices.Contains(g.Columns, column):
			b.reader.add(b.p.at(b.p.word(from, len(b.p.sql), column)), CodeSets, diag.Error,
				fmt.Sprintf("the column %q of %q is set by machine %q alone: a trigger must leave it", column, g.Table, g.Machine))
		case slices.Contains(g.Keys, column) && tr.before && tr.row && tr.on(triggerUpdate) && !tr.on(triggerInsert):
			b.reader.add(b.p.at(b.p.word(from, len(b.p.sql), column)), CodeSets, diag.Error,
				fmt.Sprintf("the column %q of %q is its key and stays: the trigger of machine %q refuses another value", column, g.Table, g.Machine))
		}
	}
}

// behind reports whether one of the words stands right before token i.
func (b *body) behind(i int, words ...string) bool {
	return i > 0 && i <= len(b.p.tokens) && slices.Contains(words, lower(b.p.text(b.p.tokens[i-1])))
}
