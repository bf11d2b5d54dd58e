package bypass

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
)

// allow is a comment by which the user accepts a finding.
type allow struct {
	offset int // of the comment, in the file
	code   diag.Code
	reason string
	// from and to are the statement below it, in the file; empty when it stands
	// above none.
	from, to int
	used     bool
}

const allowMark = "fsmgen:allow"

// idle says why the comment allows nothing; empty when it allowed something.
func (a *allow) idle() string {
	known := false
	for _, rule := range Rules() {
		known = known || rule.Code == a.code && a.code != CodeAllow
	}
	switch {
	case a.used:
		return ""
	case !known:
		return fmt.Sprintf("%s is followed by one of the codes FSM070 to FSM074 and the reason, not by %q", allowMark, string(a.code))
	case a.reason == "":
		return fmt.Sprintf("%s %s has no reason, so it allows nothing; say why behind the code", allowMark, a.code)
	case a.from >= a.to:
		return fmt.Sprintf("%s %s stands above no statement, so it allows nothing; write it on a line of its own directly above one", allowMark, a.code)
	}
	return fmt.Sprintf("%s %s allows nothing: the statement below has no such finding", allowMark, a.code)
}

// allowed reads a comment; nil when it is another one.
func (p *passage) allowed(t token) *allow {
	text := p.text(t)
	if t.kind == pg.Token_C_COMMENT {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")
	}
	text = strings.TrimSpace(strings.TrimLeft(text, "-"))
	rest, ok := strings.CutPrefix(text, allowMark)
	if !ok || rest != "" && strings.TrimLeft(rest, " \t:") == rest {
		return nil
	}
	code, reason, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(rest, " \t:")), " ")
	a := &allow{offset: p.at(t.start), code: diag.Code(code), reason: strings.Trim(reason, " \t-:.")}
	a.from, a.to = a.offset, a.offset
	return a
}

// ownLine reports whether nothing but space stands before the token on its line.
func (p *passage) ownLine(t token) bool {
	before := p.sql[:t.start]
	return strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]) == ""
}

// allowAbove gathers the comments of a passage. above gives the stretch of the
// statement that a comment token stands directly above, if it does.
func (r *reader) allowAbove(p *passage, above func(i int) (from, to int)) {
	for i, t := range p.tokens {
		if !t.comment() {
			continue
		}
		a := p.allowed(t)
		if a == nil {
			continue
		}
		if from, to := above(i); from < to && p.ownLine(t) {
			a.from, a.to = p.at(from), p.at(to-1)+1
		}
		r.allows = append(r.allows, a)
	}
}
