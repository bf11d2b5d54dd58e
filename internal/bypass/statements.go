package bypass

import (
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pgparse"
)

// statement is one statement of a passage, from its first token to behind its
// last.
type statement struct {
	p        *passage
	from, to int
	tree     *pg.Node
}

func (r *reader) add(offset int, code diag.Code, severity diag.Severity, message string) {
	r.found = append(r.found, finding{offset, code, severity, message})
}

// unread reports a part that could not be looked into.
func (r *reader) unread(offset int, message string) {
	r.add(offset, CodeUnread, diag.Warning, message)
}

// read parses the file and learns the views and triggers that it makes.
func (r *reader) read() {
	p, at, message := r.source.whole()
	if p == nil {
		r.add(at, CodeUnread, diag.Error, "PostgreSQL cannot read this: "+message)
		return
	}
	r.statements = r.parse(p, diag.Error)
	for _, st := range r.statements {
		r.scan.learn(st)
	}
}

// parse returns the statements of a passage. When one cannot be read, it is
// reported and the others are read without it.
func (r *reader) parse(p *passage, severity diag.Severity) []statement {
	var statements []statement
	result, err := pgparse.Parse(p.sql)
	if err == nil {
		for _, raw := range result.GetStmts() {
			from := int(raw.GetStmtLocation())
			to := from + int(raw.GetStmtLen())
			if raw.GetStmtLen() == 0 {
				to = len(p.sql)
			}
			statements = append(statements, p.statement(from, to, raw.GetStmt()))
		}
	} else {
		statements = r.pieces(p, severity)
	}
	r.allowAbove(p, func(i int) (int, int) {
		for j := i; j < len(p.tokens); j++ {
			if p.tokens[j].comment() {
				continue
			}
			for _, st := range statements {
				if st.from == p.tokens[j].start {
					return st.from, st.to
				}
			}
			break
		}
		return 0, 0
	})
	return statements
}

// statement narrows a stretch to its tokens.
func (p *passage) statement(from, to int, tree *pg.Node) statement {
	first := p.from(from)
	for first < len(p.tokens) && p.tokens[first].comment() {
		first++
	}
	st := statement{p: p, from: from, to: min(to, len(p.sql)), tree: tree}
	if first < len(p.tokens) && p.tokens[first].start < to {
		st.from = p.tokens[first].start
	}
	return st
}

// pieces cuts a passage at its semicolons and parses each piece.
func (r *reader) pieces(p *passage, severity diag.Severity) []statement {
	var statements []statement
	for _, cut := range p.cuts() {
		st := p.statement(cut[0], cut[1], nil)
		result, err := pgparse.Parse(p.sql[st.from:st.to])
		if err != nil {
			at := st.from
			if !errors.Is(err, pgparse.ErrDeep) && !errors.Is(err, pgparse.ErrBroken) {
				at += nthRune(p.sql[st.from:st.to], pgparse.Cursor(err)-1)
			}
			r.add(p.at(at), CodeUnread, severity, "PostgreSQL cannot read this: "+briefly(err))
			statements = append(statements, st)
			continue
		}
		shift := *p
		shift.tokens = nil
		start := st.from
		for _, t := range p.tokens[p.from(st.from):p.from(st.to)] {
			t.start, t.end = t.start-start, t.end-start
			shift.tokens = append(shift.tokens, t)
		}
		shift.sql = p.sql[st.from:st.to]
		shift.at = func(n int) int { return p.at(n + start) }
		for _, raw := range result.GetStmts() {
			st.tree = raw.GetStmt()
			inner := statement{p: &shift, from: 0, to: len(shift.sql), tree: st.tree}
			statements = append(statements, inner)
		}
		st.tree = nil
		statements = append(statements, st) // for the comments above it
	}
	return statements
}

// cuts returns the stretches between semicolons that stand outside brackets
// and outside BEGIN ATOMIC … END.
func (p *passage) cuts() [][2]int {
	var cuts [][2]int
	from, depth, cases := 0, 0, 0
	atomic, some := false, false
	for _, t := range p.tokens {
		switch {
		case t.comment():
			continue
		case t.kind == pg.Token_ATOMIC:
			atomic = true
		case t.kind == pg.Token_CASE:
			cases++
		case t.kind == pg.Token_END_P && cases > 0:
			cases--
		case t.kind == pg.Token_END_P:
			atomic = false
		case strings.ContainsAny(p.text(t), "([") && t.end-t.start == 1:
			depth++
		case strings.ContainsAny(p.text(t), ")]") && t.end-t.start == 1:
			depth = max(0, depth-1)
		case t.kind == pg.Token_ASCII_59 && depth == 0 && !atomic:
			if some {
				cuts = append(cuts, [2]int{from, t.start})
			}
			from, cases, some = t.end, 0, false
			continue
		}
		some = true
	}
	if some {
		cuts = append(cuts, [2]int{from, len(p.sql)})
	}
	return cuts
}
