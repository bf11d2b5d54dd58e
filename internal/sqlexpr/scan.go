package sqlexpr

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// token is one word of the fragment.
type token struct {
	start, end int
	kind       pg.Token
	word       bool // an identifier or keyword, unquoted
	special    bool // a keyword that is no name of a column unless quoted
}

// gluable are the operators that may touch a parameter's @ without a space:
// PostgreSQL reads "=@" as one operator, people read "= @name".
var gluable = map[string]bool{
	"=": true, "<>": true, "!=": true, "<=": true, ">=": true, ">": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "||": true, "->": true, "->>": true,
}

// constants are the kinds of tokens that hold text between quotes.
var constants = map[pg.Token]bool{pg.Token_SCONST: true, pg.Token_USCONST: true, pg.Token_BCONST: true, pg.Token_XCONST: true}

// scan checks the fragment word by word and returns it with every parameter
// replaced by a positional one of the same length. Without that, the grammar
// would read @amount + 1 as @ (amount + 1), since @ is an operator to it.
func (w *walker) scan() (string, bool) {
	result, err := pgparse.Scan(w.source)
	if err != nil {
		w.syntax(err, 0)
		return "", false
	}
	for _, t := range result.GetTokens() {
		start, end := int(t.GetStart()), int(t.GetEnd())
		if start < 0 || end > len(w.source) || start >= end {
			continue
		}
		word := t.GetToken() == pg.Token_IDENT || t.GetKeywordKind() != pg.KeywordKind_NO_KEYWORD
		if w.source[start] == '"' {
			word = false
		}
		special := word && t.GetKeywordKind() > pg.KeywordKind_UNRESERVED_KEYWORD
		w.tokens = append(w.tokens, token{start: start, end: end, kind: t.GetToken(), word: word, special: special})
	}
	w.params = make(map[int]string)
	masked := []byte(w.source)
	var open []byte
	for i, t := range w.tokens {
		text := w.text(t)
		switch {
		case t.kind == pg.Token_SQL_COMMENT || t.kind == pg.Token_C_COMMENT:
			w.add(t.start, Comment, "", "a comment cannot stand inside SQL; write it as a YAML comment, or in describe")
		case constants[t.kind] && strings.ContainsAny(text, "\n\r"):
			w.add(t.start, LineBreak, "", "a string constant must stand on one line; write a line break in it as E'\\n'")
		case t.kind == pg.Token_PARAM:
			w.add(t.start, ParamSpelling, text, "%s is no parameter here; write a parameter by its name, as @name", text)
		case text == ";":
			w.add(t.start, Several, "", "a semicolon cannot stand here; write exactly one SQL expression")
		case text == "(" || text == "[":
			open = append(open, text[0])
		case text == ")" || text == "]":
			if len(open) == 0 || !pairs(open[len(open)-1], text[0]) {
				w.add(t.start, Several, "", "%q closes what was not opened", text)
				return "", false
			}
			open = open[:len(open)-1]
		case text == "," && len(open) == 0:
			w.add(t.start, Several, "", "a comma cannot stand here; write exactly one SQL expression")
		case text == ":" && len(open) == 0 && i+1 < len(w.tokens) && w.tokens[i+1].word:
			w.add(t.start, ParamSpelling, w.text(w.tokens[i+1]), "write the parameter as @%s, not with a colon", w.text(w.tokens[i+1]))
		case t.kind == pg.Token_Op && strings.HasSuffix(text, "@"):
			w.param(i, masked)
		}
	}
	if len(open) > 0 {
		w.add(len(w.source), Several, "", "%q is not closed", string(open[len(open)-1]))
	}
	return string(masked), len(w.issues) == 0
}

// param reads the operator token i, which ends in @, together with the name
// behind it.
func (w *walker) param(i int, masked []byte) {
	t := w.tokens[i]
	op, at := w.text(t), t.end-1
	rest := op[:len(op)-1]
	var name token
	if i+1 < len(w.tokens) {
		name = w.tokens[i+1]
	}
	switch {
	case rest == "@" || rest == "<" && name.start != t.end:
		return // the operators @@ and <@
	case rest == "<":
		w.add(t.start, ParamSpelling, "", "write < @%s or <@ %s; without the space it can be read as either", w.text(name), w.text(name))
	case name.start != t.end || !name.word:
		if rest == "" {
			w.add(t.start, ParamSpelling, "@", "@ must be followed by a parameter's name at once, as in @amount; for the absolute value write abs(…)")
		}
		// Any other operator of that ending is judged where operators are.
	case rest != "" && !gluable[rest]:
		w.add(t.start, ParamSpelling, "", "put a space between %s and @%s", rest, w.text(name))
	case rest == "" && at > 0 && wordByte(w.source[at-1]):
		w.add(at, Syntax, "", "an operator is missing before @%s", w.text(name))
	default:
		w.params[at] = strings.ToLower(w.text(name))
		w.mask(masked, at, name.end)
	}
}

// mask writes $0…01 over the stretch.
func (w *walker) mask(masked []byte, start, end int) {
	masked[start] = '$'
	for i := start + 1; i < end; i++ {
		masked[i] = '0'
	}
	masked[end-1] = '1'
}

func (w *walker) text(t token) string { return w.source[t.start:t.end] }

// tokenAt returns the index of the token that starts at the offset, or -1.
func (w *walker) tokenAt(offset int) int {
	for i, t := range w.tokens {
		if t.start == offset {
			return i
		}
	}
	return -1
}

// syntax reports an error of the parser, which counts characters behind a
// prefix of that many bytes.
func (w *walker) syntax(err error, prefix int) {
	offset := nthRune(w.source, max(0, pgparse.Cursor(err)-1-prefix))
	message := err.Error()
	if offset >= len(w.source) && strings.Contains(message, "at or near") {
		message = "syntax error at the end"
	}
	if at, hint := w.unquoted(offset); hint != "" {
		offset, message = at, message+"; "+hint
	}
	w.add(offset, Syntax, "", "PostgreSQL cannot read this expression: %s", message)
}

// unquoted looks for a declared name that is a keyword, where the parser
// stopped or just before, and returns its place and how to write it.
func (w *walker) unquoted(offset int) (int, string) {
	i := len(w.tokens)
	for i > 0 && w.tokens[i-1].start >= offset {
		i--
	}
	for _, at := range []int{i, i - 1} {
		if at < 0 || at >= len(w.tokens) || !w.tokens[at].special {
			continue
		}
		if hint := w.spelling(w.tokens[at]); hint != "" {
			return w.tokens[at].start, hint
		}
	}
	return 0, ""
}

// spelling says how to write the declared name that the keyword spells; empty
// when there is none, or when it is written as a parameter already.
func (w *walker) spelling(t token) string {
	name := strings.ToLower(w.text(t))
	_, written := w.params[t.start-1]
	switch {
	case written:
		return ""
	case w.field(w.scope.Columns, name) != nil:
		return fmt.Sprintf("%s is a keyword of SQL: for the column write %q in double quotes", strings.ToUpper(name), name)
	case w.field(w.scope.Params, name) != nil:
		return fmt.Sprintf("for the parameter write @%s", name)
	}
	return ""
}

// nthRune returns the byte offset of the n-th character, counted from 0.
func nthRune(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func pairs(open, shut byte) bool {
	return open == '(' && shut == ')' || open == '[' && shut == ']'
}

func wordByte(b byte) bool {
	return b == '_' || b == '$' || b >= 0x80 || b == '"' || b == '\'' ||
		'0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
