package bypass

import (
	"sort"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pgparse"
)

// MaxLength is the size in bytes that a file may have to be read.
const MaxLength = 4 << 20

// source is a file.
type source struct {
	name  string
	text  string
	lines []int // offsets at which lines begin
}

func newSource(name string, sql []byte) *source {
	s := &source{name: name, text: string(sql), lines: []int{0}}
	for i := range len(sql) {
		if sql[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position is the place of a byte of the file.
func (s *source) position(offset int) diag.Position {
	offset = max(0, min(offset, len(s.text)))
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
	return diag.Position{File: s.name, Line: line, Col: utf8.RuneCountInString(s.text[s.lines[line-1]:offset]) + 1}
}

// whole returns the file as a passage, or a message and its place when it is
// no text that can be read.
func (s *source) whole() (*passage, int, string) {
	switch {
	case len(s.text) > MaxLength:
		return nil, 0, "the file has more than 4 MiB and was not read"
	case strings.IndexByte(s.text, 0) >= 0:
		return nil, strings.IndexByte(s.text, 0), "the file holds a NUL character"
	case !utf8.ValidString(s.text):
		at := 0
		for at < len(s.text) {
			r, size := utf8.DecodeRuneInString(s.text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return nil, at, "the file is not UTF-8 text"
	}
	sql := s.text
	if strings.HasPrefix(sql, "\uFEFF") {
		sql = "   " + sql[3:] // a byte order mark is no SQL
	}
	p, at, message := newPassage(sql, func(offset int) int { return offset })
	return p, at, message
}

// passage is SQL that is parsed by itself: a file, or text inside one.
type passage struct {
	sql    string
	tokens []token
	// at gives the place in the file of a byte of the passage.
	at func(int) int
}

type token struct {
	start, end int
	kind       pg.Token
	keyword    bool
}

func (t token) comment() bool {
	return t.kind == pg.Token_SQL_COMMENT || t.kind == pg.Token_C_COMMENT
}

// newPassage cuts the text into tokens and writes positional parameters over
// those that sqlc reads as @name. A text that cannot be cut is nil, with the
// place in the file and what the scanner says.
func newPassage(sql string, at func(int) int) (*passage, int, string) {
	result, err := pgparse.Scan(sql)
	if err != nil {
		return nil, at(nthRune(sql, pgparse.Cursor(err)-1)), briefly(err)
	}
	p := &passage{at: at}
	for _, t := range result.GetTokens() {
		start, end := int(t.GetStart()), int(t.GetEnd())
		if start >= 0 && start < end && end <= len(sql) {
			p.tokens = append(p.tokens, token{start, end, t.GetToken(), t.GetKeywordKind() != pg.KeywordKind_NO_KEYWORD})
		}
	}
	p.sql = p.masked(sql)
	return p, 0, ""
}

// glued are the operators that may touch a parameter's @: PostgreSQL reads
// "=@" as one operator, people read "= @name".
var glued = map[string]bool{
	"": true, "=": true, "<>": true, "!=": true, "<=": true, ">=": true, ">": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "||": true, "->": true, "->>": true,
}

// masked writes $0…01 over each @name, so that a name may be a keyword, and
// lengths stay.
func (p *passage) masked(sql string) string {
	out := []byte(sql)
	for i, t := range p.tokens {
		if t.kind != pg.Token_Op || sql[t.end-1] != '@' || !glued[sql[t.start:t.end-1]] || i+1 >= len(p.tokens) {
			continue
		}
		next := p.tokens[i+1]
		if next.start != t.end || !next.keyword && next.kind != pg.Token_IDENT || sql[next.start] == '"' {
			continue
		}
		if i+2 < len(p.tokens) && sql[p.tokens[i+2].start] == '(' {
			continue // the absolute value of what a function returns
		}
		copy(out[t.end-1:next.end], "$"+strings.Repeat("0", next.end-t.end-1)+"1")
		p.tokens[i+1].kind = pg.Token_PARAM
	}
	return string(out)
}

func (p *passage) text(t token) string { return p.sql[t.start:t.end] }

// from returns the index of the first token that starts at the offset or after it.
func (p *passage) from(offset int) int {
	return sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].start >= offset })
}

// identifier is the name that a token spells, as the catalog would have it.
func (p *passage) identifier(t token) string {
	text := p.text(t)
	if strings.HasPrefix(text, `"`) && len(text) > 1 {
		return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	}
	return lower(text)
}

// word returns the offset of the first token between the offsets that spells
// the name, else from.
func (p *passage) word(from, to int, name string) int {
	for i := p.from(from); i < len(p.tokens) && p.tokens[i].start < to; i++ {
		if t := p.tokens[i]; !t.comment() && p.identifier(t) == name {
			return t.start
		}
	}
	return from
}

// lower folds as PostgreSQL folds unquoted names: ASCII letters alone.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// nthRune returns the byte offset of the n-th character, counted from 0.
func nthRune(s string, n int) int {
	for i := range s {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(s)
}

// briefly is what the parser says, less the rest of the file that it quotes.
func briefly(err error) string {
	text := err.Error()
	if i := strings.Index(text, " at or near "); i >= 0 && strings.ContainsAny(text, "\n\r") {
		return text[:i]
	}
	return text
}
