package fsm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// uuidSpellings are texts that are a uuid to PostgreSQL, and texts that are nearly one.
var uuidSpellings = []string{
	"00000000-0000-4000-8000-00000000000a", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
	"a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
	"a-0eebc999c0b4ef8bb6d6bb9bd380a11", "a0-eebc999c0b4ef8bb6d6bb9bd380a11", "-a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11-", "{a0eebc999c0b4ef8bb6d6bb9bd380a11-}",
	"a0eebc99--9c0b4ef8bb6d6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11}", "{{a0eebc999c0b4ef8bb6d6bb9bd380a11}}", " a0eebc999c0b4ef8bb6d6bb9bd380a11",
	"a0eebc999c0b4ef8bb6d6bb9bd380a1", "a0eebc999c0b4ef8bb6d6bb9bd380a111", "g0eebc999c0b4ef8bb6d6bb9bd380a11", "", "{}", "-", "\u0661" + "0eebc999c0b4ef8bb6d6bb9bd380a11",
}

// asUUID reads a uuid by the words of PostgreSQL's manual, chapter 8.12: 32
// hexadecimal digits in either case, braces around them or not, a hyphen after any
// group of four digits or not.
func asUUID(text string) (digits string, ok bool) {
	if inner, opened := strings.CutPrefix(text, "{"); opened {
		closed := false
		if text, closed = strings.CutSuffix(inner, "}"); !closed {
			return "", false
		}
	}
	for group := range 8 {
		if group > 0 {
			text = strings.TrimPrefix(text, "-")
		}
		if len(text) < 4 || strings.Trim(text[:4], "0123456789abcdefABCDEF") != "" {
			return "", false
		}
		digits, text = digits+strings.ToLower(text[:4]), text[4:]
	}
	return digits, text == ""
}

// FuzzCanonicalUUID: what PostgreSQL reads as one uuid is one text, in its own
// spelling; anything else is refused, and stays as it is.
func FuzzCanonicalUUID(f *testing.F) {
	for _, text := range uuidSpellings {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		digits, ok := asUUID(text)
		canonical := CanonicalUUID(text)
		require.Equal(t, canonical, CanonicalUUID(canonical))
		err := UUIDText(&EventInfo{Machine: "m", Event: "e"}, "id", text)
		if !ok {
			require.ErrorIs(t, err, ErrArgument)
			require.Equal(t, text, canonical)
			if len(text) > 8 {
				require.NotContains(t, err.Error(), text)
			}
			return
		}
		require.NoError(t, err)
		require.Equal(t, strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-"), canonical)
	})
}

// FuzzKeyText: the text of a key is JSON of its parts, and keys that differ have
// texts that differ.
func FuzzKeyText(f *testing.F) {
	f.Add("a", "b", int64(7), true)
	f.Add(`"\/`, "\b\f\n\r\t\x01", int64(-1), false)
	f.Add("a\", \"b", "", int64(0), true)
	f.Add("\u2028<&>", "\x7f待", int64(1)<<62, false)
	f.Fuzz(func(t *testing.T, first, second string, number int64, flag bool) {
		text := KeyText(first, second, number, flag)
		if !utf8.ValidString(first) || !utf8.ValidString(second) {
			return
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var parts []any
		require.NoError(t, d.Decode(&parts), text)
		n, err := parts[2].(json.Number).Int64()
		require.NoError(t, err)
		require.Equal(t, []any{first, second, number, flag}, []any{parts[0], parts[1], n, parts[3]})
		require.Equal(t, text, KeyText(parts[0], parts[1], n, parts[3]))
	})
}

// FuzzArgument: a text that may be an identity can be stored and told apart, and no
// refusal shows the text.
func FuzzArgument(f *testing.F) {
	for _, text := range []string{"", "p-1", "a\x00", "\xff", "a\u0085b", strings.Repeat("x", MaxIdentity+1), "2024-02-29", "0000-01-01", "9999-12-31", "2023-02-29", "2024-2-9", " 2024-02-29"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := &EventInfo{Machine: "m", Event: "e"}
		shown := func(err error) {
			if err != nil {
				require.ErrorIs(t, err, ErrArgument)
				require.False(t, len(text) > 12 && strings.Contains(err.Error(), text), "%v", err)
			}
		}
		err := IdentityText(e, "no", text)
		shown(err)
		fit := text != "" && len(text) <= MaxIdentity && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
		require.Equal(t, fit, err == nil, "%q", text)

		err = DateText(e, "day", text)
		shown(err)
		day, wrong := time.Parse("2006-01-02", text)
		require.Equal(t, wrong == nil && day.Format("2006-01-02") == text && day.Year() >= 1, err == nil, "%q", text)
	})
}
