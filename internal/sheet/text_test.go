package sheet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatNoFileHoldsIsShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\tb\nc":          "a\tb\nc",
		"a\r\nb\rc":        "a\nb\nc",
		"\x00\x07\x1B\x7F": "␀␇␛␡",
		"a\xffb":           "a\uFFFDb",
		"\uFFFE\uFFFF":     "\uFFFD\uFFFD",
		"退款 🚀":             "退款 🚀",
	} {
		require.Equal(t, want, Clean(text), "%q", text)
	}
}

func TestLongTextsAreCutAndSaySo(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", Fit("short", 5))
	// The longest mark here, with 100 of 100, has 39 characters: 7 are left for the text.
	require.Equal(t, "aaaaaaa… [cut: 93 of 100 characters left out]", Fit(strings.Repeat("a", 100), 46))

	whole := strings.Repeat("a", MaxCell)
	require.Equal(t, whole, Fit(whole, MaxCell))
	cut := Fit(whole+"b", MaxCell)
	require.LessOrEqual(t, units(cut), MaxCell)
	require.Contains(t, cut, "… [cut: ")
	require.True(t, strings.HasSuffix(cut, " of 32768 characters left out]"), cut[len(cut)-60:])

	// A character outside the basic plane is two units and is never halved.
	rockets := Fit(strings.Repeat("🚀", 20_000), MaxCell)
	require.LessOrEqual(t, units(rockets), MaxCell)
	require.NotContains(t, rockets, "\uFFFD")
	require.Contains(t, rockets, " of 40000 characters left out]")
}

func TestNamesOfSheetsAreLegalAndUnique(t *testing.T) {
	t.Parallel()
	var names Names
	for _, c := range []struct{ text, want string }{
		{"order", "order"},
		{"Order", "Order 2"},
		{"order", "order 3"},
		{"", "Sheet"},
		{"  ", "Sheet 2"},
		{"a:b\\c/d?e*f[g]h", "a-b-c-d-e-f-g-h"},
		{"'quoted'", "quoted"},
		{"it's", "it's"},
		{"History", "History 2"},
		{"history", "history 3"},
		{strings.Repeat("x", 40), strings.Repeat("x", 31)},
		{strings.Repeat("x", 40), strings.Repeat("x", 29) + " 2"},
		{strings.Repeat("🚀", 20), strings.Repeat("🚀", 15)},
		{strings.Repeat("y", 30) + "'z", strings.Repeat("y", 30)},
		{"待支付", "待支付"},
		{"tab\tnul\x00", "tab-nul-"},
	} {
		got := names.Make(c.text)
		require.Equal(t, c.want, got)
		require.True(t, legal(got), got)
	}
}

func TestIllegalNamesAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a:b", "a/b", `a\b`, "a?", "a*", "[a", "a]", "'a", "a'", "HISTORY", "a\nb", "a\xff", strings.Repeat("🚀", 16)} {
		require.False(t, legal(name), "%q", name)
	}
}

func TestRowsAreAsHighAsTheirLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, 9, Shown("待支付 🚀"))
	for _, c := range []struct {
		text  string
		width float64
		wrap  bool
		want  int
	}{
		{"", 12, true, 1},
		{"short", 12, true, 1},
		{strings.Repeat("x", 100), 12, false, 1},
		{strings.Repeat("x", 100), 22, true, 5},
		{strings.Repeat("支", 50), 22, true, 5},
		{"one\ntwo\n", 12, false, 3},
		{"narrow", 1, true, 7},
	} {
		require.Equal(t, c.want, height(c.text, c.width, c.wrap), "%q", c.text)
	}
	require.Less(t, lineHeight("one\ntwo"), lineHeight("一\ntwo"))
}
