package bypass

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// constant returns the text of the string constant that begins at or after the
// offset, as a function that maps its bytes to the file, and the token. The
// value is what the parser made of it; when the two cannot be matched, every
// byte is at the constant's beginning.
func (p *passage) constant(offset int, value string) (func(int) int, token, bool) {
	i := p.from(offset)
	for i < len(p.tokens) && p.tokens[i].kind != pg.Token_SCONST && p.tokens[i].kind != pg.Token_USCONST {
		i++
	}
	if i == len(p.tokens) {
		return nil, token{}, false
	}
	t := p.tokens[i]
	text, places := spelled(p.text(t))
	if text != value {
		return func(int) int { return p.at(t.start) }, t, true
	}
	return func(n int) int {
		if n >= len(places) {
			return p.at(max(t.start, t.end-1))
		}
		return p.at(t.start + places[max(0, n)])
	}, t, true
}

// spelled returns what a string constant means, and for each byte of it where
// in the constant it is spelled. It is empty for one that is written with
// escapes, which are rare in bodies.
func spelled(s string) (string, []int) {
	if strings.HasPrefix(s, "$") {
		tag := strings.IndexByte(s[1:], '$') + 2
		if tag < 2 || len(s) < 2*tag {
			return "", nil
		}
		body := s[tag : len(s)-tag]
		places := make([]int, len(body))
		for i := range places {
			places[i] = tag + i
		}
		return body, places
	}
	escapes := strings.HasPrefix(s, "E") || strings.HasPrefix(s, "e")
	if escapes && strings.Contains(s, `\`) || !escapes && !strings.HasPrefix(s, "'") {
		return "", nil
	}
	var b strings.Builder
	var places []int
	inside := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\'' && inside:
			b.WriteByte(s[i])
			places = append(places, i)
		case s[i] == '\'' && inside && i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			places = append(places, i)
			i++
		case s[i] == '\'':
			inside = !inside // a constant may go on behind a line break
		}
	}
	return b.String(), places
}
