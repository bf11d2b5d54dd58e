package bypass

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// starts are the words behind which a statement begins.
var starts = map[pg.Token]bool{pg.Token_ASCII_59: true, pg.Token_BEGIN_P: true, pg.Token_THEN: true, pg.Token_ELSE: true}

func (b *body) begins(i int) bool {
	for i--; i >= 0; i-- {
		if t := b.p.tokens[i]; !t.comment() {
			word := lower(b.p.text(t))
			return starts[t.kind] || word == "loop"
		}
	}
	return true
}

// end returns where the statement that begins at token i ends.
func (b *body) end(i int) int {
	for ; i < len(b.p.tokens); i++ {
		if t := b.p.tokens[i]; t.kind == pg.Token_ASCII_59 || lower(b.p.text(t)) == "loop" {
			return t.start
		}
	}
	return len(b.p.sql)
}

// above gives the statement of the body that comment i stands directly above.
func (b *body) above(i int) (int, int) {
	if !b.begins(i) {
		return 0, 0
	}
	for i < len(b.p.tokens) && b.p.tokens[i].comment() {
		i++
	}
	if i == len(b.p.tokens) {
		return 0, 0
	}
	return b.p.tokens[i].start, b.end(i)
}

// verbs begin statements that are SQL's and not PL/pgSQL's.
var verbs = map[pg.Token]bool{
	pg.Token_INSERT: true, pg.Token_UPDATE: true, pg.Token_DELETE_P: true, pg.Token_MERGE: true, pg.Token_WITH: true,
	pg.Token_TRUNCATE: true, pg.Token_ALTER: true, pg.Token_DROP: true, pg.Token_COPY: true, pg.Token_SET: true,
}

// lexical reads the statements of a body that the parser refuses, as far as
// they stand by themselves. What it misses was said before.
func (b *body) lexical() {
	for i, t := range b.p.tokens {
		if !verbs[t.kind] || !b.begins(i) && !b.behind(i, "query", "in") {
			continue
		}
		text := b.withoutInto(i, b.end(i))
		result, err := pgparse.Parse(text)
		if err != nil {
			continue
		}
		p, _, _ := newPassage(text, func(n int) int { return b.p.at(n + t.start) })
		for _, raw := range result.GetStmts() {
			b.reader.statement(p.statement(0, len(text), raw.GetStmt()))
		}
	}
}

// withoutInto blanks the INTO that follows a RETURNING, which is no SQL.
func (b *body) withoutInto(i, end int) string {
	start := b.p.tokens[i].start
	out := []byte(b.p.sql[start:end])
	returning := false
	for ; i < len(b.p.tokens) && b.p.tokens[i].start < end; i++ {
		t := b.p.tokens[i]
		returning = returning || t.kind == pg.Token_RETURNING
		if returning && t.kind == pg.Token_INTO {
			for j := t.start; j < end; j++ {
				if out[j-start] != '\n' {
					out[j-start] = ' '
				}
			}
			break
		}
	}
	return string(out)
}
