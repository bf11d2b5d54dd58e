package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// bomb is levels that each have the one before nine times: 9^levels values if
// it were followed.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// mergeBomb is levels that each merge the one before twice.
func mergeBomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 {k: 1}\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
	}
	return b.String()
}

// stairs is a piece on every line, each one deeper than the line before.
func stairs(piece string, depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + piece + "\n")
	}
	return b.String()
}

// long repeats a piece up to the size of the largest file.
func long(piece string) string { return strings.Repeat(piece, MaxBytes/len(piece)-1) }

// inLines is long in lines that are just short enough.
func inLines(piece string) string {
	return strings.TrimSuffix(long(strings.Repeat(piece, maxLineBytes/len(piece)-1)+"\n"), "\n")
}

// hostile are texts that were written to cost time or memory, and the first
// problem of each.
var hostile = []struct {
	name string
	src  func() string
	want string
}{
	{"aliases in 9 levels", func() string { return bomb(9) }, "1:5 FSM010"},
	{"merges in 18 levels", func() string { return mergeBomb(18) }, "1:5 FSM010"},
	{"lists", func() string { return strings.Repeat("[", 10_000) }, "1:65 FSM004"},
	{"lists in lines", func() string { return strings.Repeat("[\n", 10_000) }, "65:1 FSM004"},
	{"closed lists", func() string { return strings.Repeat("[", 65) + strings.Repeat("]", 65) }, "1:65 FSM004"},
	{"mappings", func() string { return strings.Repeat("{a: ", 4_000) }, "1:257 FSM004"},
	{"block lists", func() string { return strings.Repeat("- ", 8_000) + "x" }, "1:129 FSM004"},
	{"block lists in lines", func() string { return stairs("-", 2_800) }, "65:65 FSM004"},
	{"block mappings", func() string { return stairs("a:", 2_800) }, "65:66 FSM004"},
	{"block mappings of 10,000 levels", func() string { return stairs("a:", 10_000) }, "0:0 FSM003"},
	{"block keys", func() string { return strings.Repeat("? ", 8_000) }, "1:129 FSM004"},
	{"block keys in lines", func() string { return stairs("?", 2_800) }, "65:65 FSM004"},
	{"block then flow", func() string {
		return stairs("a:", 40) + strings.Repeat(" ", 40) + strings.Repeat("[", 40) + strings.Repeat("]", 40)
	}, "41:65 FSM004"},
	{"a line of dashes", func() string { return long("- ") }, "1:1 FSM003"},
	{"lines of dashes", func() string { return inLines("- ") }, "49:13665 FSM003"},
	{"a line of braces", func() string { return long("{") }, "1:1 FSM003"},
	{"lines of braces", func() string { return inLines("{") }, "25:6809 FSM003"},
	{"a line of quotes", func() string { return long(`"`) }, "1:1 FSM003"},
	{"lines of quotes", func() string { return inLines(`"`) }, "1:3 FSM001"},
	{"a quote that never ends", func() string { return `"` + inLines("a") }, "255:16384 FSM001"},
	{"a line of anchors", func() string { return long("&a ") }, "1:1 FSM003"},
	{"lines of anchors", func() string { return inLines("&a ") }, "1:4 FSM001"},
	{"a line of aliases", func() string { return long("*a ") }, "1:1 FSM003"},
	{"lines of aliases", func() string { return inLines("*a ") }, "1:1 FSM009"},
	{"a line of tags", func() string { return long("!") }, "1:1 FSM003"},
	{"lines of tags", func() string { return inLines("! ") }, "1:3 FSM001"},
	{"a line of tabs", func() string { return long("\t") }, "1:1 FSM003"},
	{"lines of tabs", func() string { return inLines("\t") }, "0:0 FSM002"},
	{"a line of bars", func() string { return long("|") }, "1:1 FSM003"},
	{"lines of bars", func() string { return inLines("|") }, "1:2 FSM001"},
	{"a line of NUL", func() string { return long("\x00") }, "1:1 FSM003"},
	{"lines of NUL", func() string { return inLines("\x00") }, "0:0 FSM018"},
	{"a line that is not UTF-8", func() string { return long("\xff") }, "1:1 FSM003"},
	{"lines that are not UTF-8", func() string { return long("\xc3\n") }, "0:0 FSM018"},
	{"windows line ends", func() string { return long("\r\n") }, "0:0 FSM002"},
	{"old line ends", func() string { return long("\r") }, "1:1 FSM003"},
	{"one comment", func() string { return "#" + long("x") }, "1:1 FSM003"},
	{"comments", func() string { return long("#\n") }, "0:0 FSM002"},
	{"long keys", func() string { return long(strings.Repeat("k", 16_000) + ": 1\n") }, "0:0 FSM018"},
	{"repeated keys", func() string { return strings.Repeat("a: 1\n", 400_000) }, "0:0 FSM018"},
	{"documents", func() string { return long("--- a\n") }, "400001:3 FSM003"},
	{"directives", func() string { return long("%\n") }, "0:0 FSM018"},
	// The bracket is the first mark; the 400,000th comma is the 6,832nd of line
	// 49, after 48 lines of 8,191.
	{"items", func() string { return "[" + inLines("1,") + "]" }, "49:13664 FSM003"},
	// The 200,000th comma is the 3,440th of line 37, after 36 lines of 5,460.
	{"keys in brackets", func() string { return "[" + inLines("? ,") + "]" }, "37:10320 FSM003"},
	// The 200,000th comma is the 783rd of line 74, after 73 lines of 2,729.
	{"pairs in brackets", func() string { return "[" + inLines("'a':1,") + "]" }, "74:4698 FSM003"},
	{"dashes below each other", func() string { return long("-\n") }, "400001:1 FSM003"},
}

func TestHostileTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, list := parse(t, c.src())
			require.NotEmpty(t, list.Sorted())
			require.Equal(t, c.want, found(list)[0])
			require.LessOrEqual(t, list.Len(), maxProblems+1)
		})
	}
}

func TestDepthThatJustFits(t *testing.T) {
	t.Parallel()
	root, list := parse(t, strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth))
	require.NotNil(t, root)
	require.Empty(t, list.Sorted())
}

func TestSizeIsLimited(t *testing.T) {
	t.Parallel()
	fits := "a: 1\n" + strings.Repeat("#\n", (MaxBytes-5)/2)
	root, list := parse(t, fits+strings.Repeat("#", MaxBytes-len(fits)))
	require.NotNil(t, root)
	require.Empty(t, list.Sorted())
	root, list = parse(t, fits+strings.Repeat("#", MaxBytes-len(fits)+1))
	require.Nil(t, root)
	require.Equal(t, []string{"0:0 FSM003"}, found(list))
	require.Equal(t, "this file has more than 4 MiB; split the definition into several machines", list.Sorted()[0].Message)
}

func TestValuesAreLimited(t *testing.T) {
	t.Parallel()
	root, list := parse(t, strings.Repeat("-\n", maxMarks))
	require.Empty(t, list.Sorted())
	require.Len(t, root.AsSequence().Items, maxMarks)
	root, list = parse(t, strings.Repeat("-\n", maxMarks)+"-")
	require.Nil(t, root)
	require.Equal(t, []string{"400001:1 FSM003"}, found(list))
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{
		"": 0, "a": 0, "a: b": 1, "a:\n- b\n-\tc\r\n": 3, "{a: b, c: [d]}": 5, "a-b:c?d": 0, "-": 1, "a:": 1, "? a\n: b": 2, "[a:]": 2, "12:30": 0, "# - , [": 3,
		`{"a":1,'b':[]:c}`: 6, "'a' :b": 1,
	} {
		count := 0
		for at := range src {
			if mark([]byte(src), at) {
				count++
			}
		}
		require.Equal(t, want, count, src)
	}
}

func TestBombsAreNotFollowed(t *testing.T) {
	t.Parallel()
	root, list := parse(t, bomb(9))
	require.NotNil(t, root)
	require.Equal(t, 10+81, list.Len()) // each anchor and each alias
	root, list = parse(t, mergeBomb(18))
	require.NotNil(t, root)
	require.Equal(t, 19+18+36, list.Len()) // and each merge
}

// BenchmarkHostile shows that each is refused in a tenth of a second.
func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		src := []byte(c.src())
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var list diag.List
				Parse("d.yaml", src, &list)
			}
		})
	}
}
