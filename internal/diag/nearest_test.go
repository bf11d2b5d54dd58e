package diag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"pya", []string{"cancel", "pay", "ship"}, "pay"},
		{"PAID", []string{"paid"}, "paid"},
		{"a", []string{"A", "b"}, "A"},
		{"a", []string{"b"}, ""},
		{"payment_suceeded", []string{"payment_failed", "payment_succeeded"}, "payment_succeeded"},
		{"ship", []string{"receive"}, ""},
		{"ship", []string{"shop", "slip"}, "shop"},
		{"ship", []string{"slip", "shop"}, "slip"},
		{"shipp", []string{"shi", "ship"}, "ship"},
		{"pay", []string{"pay", "pays"}, "pays"},
		{"带支付", []string{"已支付", "待支付"}, "已支付"},
		{"", []string{"pay", ""}, ""},
		{"pay", nil, ""},
		{strings.Repeat("x", 65), []string{strings.Repeat("x", 64)}, ""},
		{strings.Repeat("x", 64), []string{strings.Repeat("x", 65)}, ""},
	} {
		require.Equal(t, c.want, Nearest(c.name, c.candidates), "%s of %v", c.name, c.candidates)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"ab", "ba", 1},
		{"ca", "abc", 2}, // 3 when a swapped pair may not be edited further
		{"abcdef", "abdcef", 1},
	} {
		require.Equal(t, c.want, distance([]rune(c.a), []rune(c.b)), "%q %q", c.a, c.b)
	}
}
