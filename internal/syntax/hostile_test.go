package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// bomb is ten levels of nine aliases each: 9^10 values if it were followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

func deepBlock(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// inLines cuts a repeated piece into lines that are just short enough.
func inLines(piece string) string {
	line := strings.Repeat(piece, maxLineBytes/len(piece)-1)
	return strings.Repeat(line+"\n", MaxBytes/(len(line)+1)-1)
}

func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, want string }{
		{"lists", strings.Repeat("[", 10_000), "1:65 FSM004"},
		{"closed lists", strings.Repeat("[", 65) + strings.Repeat("]", 65), "1:65 FSM004"},
		{"mappings", strings.Repeat("{a: ", 4_000), "1:257 FSM004"},
		{"block lists", strings.Repeat("- ", 8_000) + "x", "1:129 FSM004"},
		{"block mappings", deepBlock(600), "65:66 FSM004"},
		{"block then flow", deepBlock(40) + strings.Repeat(" ", 40) + strings.Repeat("[", 40) + strings.Repeat("]", 40), "41:65 FSM004"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, list := parse(t, c.src)
			require.Equal(t, []string{c.want}, found(list))
		})
	}
	root, list := parse(t, strings.Repeat("[", 64)+strings.Repeat("]", 64))
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
}

func TestBombIsNotFollowed(t *testing.T) {
	t.Parallel()
	root, list := parse(t, bomb())
	require.NotNil(t, root)
	require.Equal(t, 11+90, list.Len()) // 101: the hundred and the note
	require.Equal(t, "0:0 FSM018", found(list)[0])
}

// BenchmarkHostile measures texts of up to 1 MiB that are made to be slow.
func BenchmarkHostile(b *testing.B) {
	for _, c := range []struct{ name, src string }{
		{"bomb", bomb()},
		{"lists", strings.Repeat("[", 10_000)},
		{"mappings", strings.Repeat("{a: ", 4_000)},
		{"block mappings", deepBlock(600)},
		{"flow keys", "{" + inLines("a: 1,") + "}"},
		{"flow lists", "[" + inLines("[],") + "]"},
		{"flow questions", "[" + inLines("? a,") + "]"},
		{"comments in flow", "[" + strings.Repeat("a, #\n", 200_000) + "]"},
		{"comments", strings.Repeat("- a #\n#b\n\n", 100_000)},
		{"foot comments", strings.Repeat("a:\n  b: 1\n  #f\n\n", 60_000)},
		{"repeated keys", strings.Repeat("a: 1\n", 200_000)},
		{"folded quotes", "a: \"" + strings.Repeat("b\n ", 300_000) + "\""},
		{"escapes", "a: [" + inLines(`"\0",`) + "]"},
		{"one long line", "{" + strings.Repeat("a: 1,", 200_000) + "}"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var list diag.List
				Parse("d.yaml", []byte(c.src), &list)
			}
		})
	}
}
