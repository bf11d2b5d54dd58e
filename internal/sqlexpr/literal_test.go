package sqlexpr_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

// Texts that are nearly what a type or a pattern reads: what is refused of them
// PostgreSQL refuses as well. The other way round much is left to PostgreSQL.
func TestLiteralsThatAreRefusedCannotBeRead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	seeds := []struct{ form, text string }{
		{"si = '%s'", "32767"}, {"i = '%s'", "-2147483648"}, {"a = '%s'", " 9223372036854775807 "}, {"n = '%s'", "-12.50e1"}, {"f = '%s'", "1.5e300"},
		{"f = '%s'", "-Infinity"}, {"n = '%s'", "NaN"}, {"b = '%s'", " true "}, {"u = '%s'", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"},
		{"d = '%s'", "2024-02-29"}, {"d = '%s'", "2024-12-31 23:59:59"}, {"d = '%s'", "January 8, 1999"}, {"d = '%s'", "infinity"}, {"at = '%s'", "2024-02-29T23:59:59.5Z"},
		{"at = '%s'", "2024-02-29 24:00:00+05:30"}, {"at = '%s'", "epoch"}, {"at + '%s' > at", "1 day 2 hours ago"}, {"at + '%s' > at", "P1DT2H"},
		{"j = '%s'", `{"a": [1, -2.5e3, true, null, "x\n"]}`}, {"r = '%s'", `\xde ad`}, {"r = '%s'", `a\\b\001`}, {"t = ANY ('%s')", "{a,b}"},
		{"t ~ '%s'", `^([a-z]{2,3}|\(x\))+?[[:digit:]]*$`}, {"t ~ '%s'", `[]a-]|(?:b)|[^]]`}, {"t ~ '%s'", `(?=a)\m[\w.]+$`},
		{"date_trunc('%s', at) > at", "microseconds"}, {"date_part('%s', d) > 1", "timezone_hour"}, {"date_part('%s', at - at) > 1", "centuries"},
	}
	const letters = ` 0123456789abcdefINTZ+-.:,_{}[]()"\*?|^$/`
	var expressions []string
	for _, seed := range seeds {
		expressions = append(expressions, fmt.Sprintf(seed.form, seed.text))
		for range 120 {
			text := []byte(seed.text)
			for range 1 + random.IntN(3) {
				at, letter := random.IntN(len(text)), letters[random.IntN(len(letters))]
				switch random.IntN(3) {
				case 0:
					text[at] = letter
				case 1:
					text = append(text[:at], append([]byte{letter}, text[at:]...)...)
				case 2:
					if len(text) > 1 {
						text = append(text[:at], text[at+1:]...)
					}
				}
			}
			expressions = append(expressions, fmt.Sprintf(seed.form, text))
		}
	}
	refused := 0
	for i, answer := range answers(t, database(t, row), expressions) {
		_, issues := sqlexpr.Parse(expressions[i], sqlexpr.Scope{Columns: everyKind(), Clock: true})
		if len(issues) > 0 && !strings.Contains(issues[0].Message, "clock") {
			refused++
			require.NotEmpty(t, answer, "PostgreSQL takes %s: %s", expressions[i], issues[0].Message)
		}
	}
	require.Greater(t, refused, 500)
}
