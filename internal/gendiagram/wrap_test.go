package gendiagram

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"short", "short"},
		{"a line that is longer", "a line/that is/longer"},
		{"  white \n space\t", "white/space"},
		{"aWordThatIsTooLong", "aWordThatIsTooLong"},
		{"x aWordThatIsTooLong y", "x/aWordThatIsTooLong/y"},
		{"× refuses", "× refuses"},
		{"123456789 × y", "123456789/× y"},
		{"订单已经支付完成了", "订单已经支/付完成了"},
		{"订单已经支,付", "订单已经/支,付"},
		{"one 支付 (pay)", "one 支/付 (pay)"},
		{"q (max 48) x y", "q (max 48)/x y"},
		{"query (max 48) x", "query/(max 48) x"},
		{"query ( x y", "query ( x/y"},
		{"👨‍👩‍👧👨‍👩‍👧", "👨‍👩‍👧/👨‍👩‍👧"},
	} {
		require.Equal(t, c.want, strings.Join(wrap(c.text, 10), "/"), c.text)
	}
}
