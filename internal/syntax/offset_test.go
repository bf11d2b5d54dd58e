package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each source has its value under the key "k"; marks are substrings of the
// value, and where their first character stands in the source.
func TestPosAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src, value string
		marks            map[string]string
	}{
		{"plain", "k: total_cents = @x\n", "total_cents = @x", map[string]string{"total": "1:4", "=": "1:16", "@x": "1:18"}},
		{"plain counts characters", "k: 'x'\nl: 1\n", "x", map[string]string{"x": "1:5"}},
		{"chinese", "k: 待支付 = @x # c\n", "待支付 = @x", map[string]string{"支": "1:5", "=": "1:8", "@x": "1:10"}},
		{"flow", "k: {sql: 1}\n", "", nil},
		{"single quoted", "k: 'a = ''b'' or c'\n", "a = 'b' or c", map[string]string{"a": "1:5", "'b": "1:9", "b": "1:11", "' or": "1:12", "or": "1:15", "c": "1:18"}},
		{"double quoted", `k: "a = 'b' or c"`, "a = 'b' or c", map[string]string{"=": "1:7", "c": "1:16"}},
		{"escapes", `k: "a\tb\u0041c\x42\U0001F642d\"e\\f"`, "a\tbAcB🙂d\"e\\f",
			map[string]string{"\t": "1:6", "b": "1:8", "A": "1:9", "c": "1:15", "B": "1:16", "🙂": "1:20", "d": "1:30", "\"": "1:31", "e": "1:33", "\\": "1:34", "f": "1:36"}},
		{"folded double", "k: \"a  \n\n   b\n   c \\\n   d\"", "a\nb c d", map[string]string{"a": "1:5", "b": "3:4", "c": "4:4", "d": "5:4"}},
		{"folded single", "k: 'a\n\n\n b\n c'", "a\n\nb c", map[string]string{"b": "4:2", "c": "5:2"}},
		{"plain in lines", "k: a or\n  b  \n\n  c\nl: 1\n", "a or b\nc", map[string]string{"or": "1:6", " b": "1:8", "b": "2:3", "c": "4:3"}},
		{"literal", "k: |\n  a\n    b\n\n  c\nl: 1\n", "a\n  b\n\nc\n", map[string]string{"a": "2:3", "  b": "3:3", "b": "3:5", "c": "5:3"}},
		{"literal strip", "k: |- # note\n\n   待 = b", "\n待 = b", map[string]string{"待": "3:4", "b": "3:8"}},
		{"literal indicated", "k: |2\n    a\n  b\n", "  a\nb\n", map[string]string{"  a": "2:3", "a": "2:5", "b": "3:3"}},
		{"literal with blank text", "k: |2\n     \n   a\n  b\n", "   \n a\nb\n", map[string]string{"a": "3:4", "b": "4:3"}},
		{"literal windows", "k: |\r\n  a\r\n  b\r\n", "a\nb\n", map[string]string{"a": "2:3", "b": "3:3"}},
		{"folded block", "k: >\n  a or\n  b\n\n  c\n   d\n  e\n", "a or b\nc\n d\ne\n", map[string]string{"or": "2:5", "b": "3:3", "c": "5:3", "d": "6:4", "e": "7:3"}},
		{"after a mark", "\uFEFFk: a = b\n", "a = b", map[string]string{"b": "1:8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, _ := parse(t, c.src)
			s := root.AsMapping().Get("k").AsScalar()
			if c.marks == nil {
				require.Nil(t, s)
				return
			}
			require.Equal(t, c.value, s.Text)
			for mark, want := range c.marks {
				at := strings.Index(s.Text, mark)
				require.GreaterOrEqual(t, at, 0, mark)
				pos := s.PosAt(at)
				require.Equal(t, want, fmt.Sprintf("%d:%d", pos.Line, pos.Col), "%q", mark)
				require.Equal(t, "d.yaml", pos.File)
			}
		})
	}
}

func TestPosAtOutside(t *testing.T) {
	t.Parallel()
	root, _ := parse(t, "k: abc\ne:\nq: ''\nl: |\n  x\n  yz\nt: !!str abc\n")
	at := func(key string, offset int) string {
		pos := root.AsMapping().Get(key).AsScalar().PosAt(offset)
		return fmt.Sprintf("%d:%d", pos.Line, pos.Col)
	}
	require.Equal(t, "1:4", at("k", -1))
	require.Equal(t, "1:7", at("k", 3))
	require.Equal(t, "1:7", at("k", 1<<40))
	require.Equal(t, "2:3", at("e", 1))
	require.Equal(t, "3:4", at("q", 0))
	require.Equal(t, "6:5", at("l", 99))
	require.Equal(t, "7:4", at("t", 2)) // a tag stands first, which is a problem anyway
}

func TestPosAtOfKeys(t *testing.T) {
	t.Parallel()
	root, _ := parse(t, "{\"a b\": 1, c d: 2}")
	m := root.AsMapping()
	require.Equal(t, 5, m.Entries[0].Key.PosAt(2).Col)
	require.Equal(t, 14, m.Entries[1].Key.PosAt(2).Col)
}
