package oracle

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// Identity is the text of an identity or a fingerprint as the table of facts keeps
// it: one value is its text, several are a JSON array as PostgreSQL writes it, and
// none is the empty text.
func Identity(params []*model.Param, values Values) string {
	switch len(params) {
	case 0:
		return ""
	case 1:
		v := values[params[0].Name]
		if yes, ok := v.(bool); ok {
			return fmt.Sprint(yes)[:1] // PostgreSQL's text of a boolean is t or f
		}
		return fmt.Sprint(v)
	}
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		v := values[p.Name]
		if p.Type.Kind == model.KindText || p.Type.Kind == model.KindUUID {
			jsonText(&b, fmt.Sprint(v))
		} else {
			fmt.Fprint(&b, v)
		}
	}
	return "[" + b.String() + "]"
}

// jsonText writes a text as PostgreSQL does: unlike Go's encoder it leaves all but
// quotes, backslashes and control characters alone.
func jsonText(b *strings.Builder, text string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	b.WriteByte('"')
	for _, c := range text {
		switch s, escaped := short[c]; {
		case escaped:
			b.WriteString(s)
		case c < ' ':
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
