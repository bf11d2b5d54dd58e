package gensvg

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"nothing", "", 100, nil},
		{"blanks", " \n\t ", 100, nil},
		{"fits", "pay now", 100, []string{"pay now"}},
		{"at spaces", "one two  three\nfour", 60, []string{"one two", "three four"}},
		{"behind punctuation", "payment_succeeded", 70, []string{"payment_", "succeeded"}},
		{"not in a name that fits a line", "payment_succeeded, refund_due", 135, []string{"payment_succeeded,", "refund_due"}},
		{"between Chinese characters, no line begins with a full stop", "待支付。待支付", 40, []string{"待支", "付。待", "支付"}},
		{"no line ends with an opening bracket", "待支(付)", 40, []string{"待支", "(付)"}},
		{"a long word only where nothing else helps", "aaaaaaaaaaaaaaaaaaaa", 40, []string{"aaaaa", "aaaaa", "aaaaa", "aaaaa"}},
		{"what joins stays with what it joins", "👩‍👩‍👧👩‍👩‍👧", 45, []string{"👩‍👩‍👧", "👩‍👩‍👧"}},
		{"what cannot be seen is shown", "a\u202eb\x01c", 90, []string{"a\ufffdb\ufffdc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, wrap(c.text, fontEvent, c.limit))
		})
	}
}

// Nothing is lost, and no line is wider than the limit unless it is one
// character.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"payment_succeeded [amount]", "待支付。😀👩‍👩‍👧", "a\u202eb \u0301", strings.Repeat("W", 60)} {
		f.Add(s, 50)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, min(limit, 500))
		blank := func(s string) string { return strings.Join(strings.Fields(s), "") }
		lines := wrap(text, fontState, limit)
		require.Equal(t, blank(strings.Map(visible, text)), blank(strings.Join(lines, "")))
		for _, l := range lines {
			base := 0
			for _, r := range l {
				if advance(r, fontState) > 0 {
					base++
				}
			}
			require.True(t, width(l, fontState) <= limit+1 || base <= 1, "%q in %d", l, limit)
		}
		require.True(t, utf8.ValidString(escape(text)))
	})
}

func TestWidth(t *testing.T) {
	t.Parallel()
	// Liberation Sans, of Arial's widths, has 67 + 56 + 50 hundredths for "Pay"; what
	// we reckon is a little more, as wider fonts need.
	require.InDelta(t, 14*1.73, width("Pay", font{size: 14}), 4)
	require.Greater(t, width("Pay", fontState), width("Pay", font{size: 14}))
	require.InDelta(t, 3*14, width("待支付", fontState), 3)
	require.InDelta(t, 14, width("👩‍👩‍👧", fontState), 30) // three that a font may not have as one
	require.Equal(t, width("e", fontState), width("e\u0301", fontState))
	require.Equal(t, 5*7, width("abcde", font{size: 10.5, mono: true})+2)
}

func TestEscape(t *testing.T) {
	t.Parallel()
	require.Equal(t, "&lt;b&gt;&amp;&quot;&#39;]]&gt;&#10;\ufffd\ufffd中", escape("<b>&\"']]>\n\x00\xff中"))
	require.Equal(t, "a&#45;&#45;&gt;-b", comment("a-->-b"))
}
