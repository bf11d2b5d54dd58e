package fsm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// KeyText is a key of several columns as outbox, audit and [Swept] have it: a
// JSON array in PostgreSQL's own spelling. Generated code calls it with texts,
// integers and booleans.
func KeyText(values ...any) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if text, ok := v.(string); ok {
			jsonText(&b, text)
		} else {
			fmt.Fprint(&b, v)
		}
	}
	b.WriteByte(']')
	return b.String()
}

// jsonText writes a text as PostgreSQL's escape_json does, which unlike Go's
// encoder leaves all but quotes, backslashes and control characters alone.
func jsonText(b *strings.Builder, text string) {
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			if c < ' ' {
				fmt.Fprintf(b, `\u%04x`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
}

// CanonicalUUID is a uuid as PostgreSQL writes it, from any spelling that
// PostgreSQL reads; a text that is no uuid comes back as it is. Generated code
// calls it.
func CanonicalUUID(text string) string {
	if isCanonicalUUID(text) || !isUUID(text) {
		return text
	}
	digits := make([]byte, 0, 36)
	for i := range len(text) {
		switch c := text[i]; c {
		case '-', '{', '}':
		default:
			if len(digits) == 8 || len(digits) == 13 || len(digits) == 18 || len(digits) == 23 {
				digits = append(digits, '-')
			}
			if c >= 'A' && c <= 'F' {
				c += 'a' - 'A'
			}
			digits = append(digits, c)
		}
	}
	return string(digits)
}

// isCanonicalUUID reports whether a text is a uuid as PostgreSQL writes it, as
// nearly all are.
func isCanonicalUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// dateForm is how a date is written as part of a key.
const dateForm = "2006-01-02"

// DateText refuses a text that is no date as in 2006-01-02. The error is
// ErrArgument, names the argument and not its value. Generated code calls it
// before any SQL.
func DateText(e *EventInfo, name, value string) error {
	if t, err := time.Parse(dateForm, value); err == nil && t.Year() > 0 {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("%s is no date as in %s", name, dateForm)}
}

// DateOf is the text of a date that the database gave, the same as that of a
// JSON array: a year after 9999 has more digits, one before our era ends in BC,
// and there are infinity and -infinity. It is empty for NULL. Generated code
// calls it.
func DateOf(d pgtype.Date) string {
	switch {
	case !d.Valid:
		return ""
	case d.InfinityModifier != pgtype.Finite:
		return d.InfinityModifier.String()
	}
	year, era := d.Time.Year(), ""
	if year < 1 {
		year, era = 1-year, " BC"
	}
	return pad(year, 4) + "-" + pad(int(d.Time.Month()), 2) + "-" + pad(d.Time.Day(), 2) + era
}

func pad(n, width int) string {
	digits := strconv.Itoa(n)
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}
