package commandhttp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-go/pawl/fsm/command"
)

// KeyHeader is the request header with the key.
const KeyHeader = "Idempotency-Key"

// keyOf reads the key: a string of RFC 8941, in quotes, as the draft wants it, or
// the bare text that most clients send. "8e03" and 8e03 are one key. present is
// false when there is no header at all; problem says what is wrong with one, and
// never shows it.
func keyOf(h http.Header) (key string, present bool, problem string) {
	values := h.Values(KeyHeader)
	switch len(values) {
	case 0:
		return "", false, ""
	case 1:
	default:
		return "", true, "is given more than once"
	}
	key = strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		var ok bool
		if key, ok = unquote(key); !ok {
			return "", true, "opens a quote and is no quoted string"
		}
	} else if strings.ContainsAny(key, ` ",;`) {
		return "", true, "holds a space, quote, comma or semicolon, and is not quoted"
	}
	switch {
	case key == "":
		return "", true, "is empty"
	case len(key) > command.MaxText:
		return "", true, fmt.Sprintf("has more than %d characters", command.MaxText)
	case strings.IndexFunc(key, notPrintable) >= 0:
		return "", true, "holds a character that is not printable ASCII"
	}
	return key, true, ""
}

func notPrintable(r rune) bool { return r < ' ' || r > '~' }

// unquote reads a string of RFC 8941, section 3.3.3: between quotes, a backslash
// comes before a quote or a backslash and nothing else.
func unquote(s string) (string, bool) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return out.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
		}
		out.WriteByte(s[i])
	}
	return "", false
}
