package diag

import (
	"fmt"
	"slices"
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
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0}, {"", "abc", 3, 3}, {"abc", "", 3, 3}, {"abc", "abc", 0, 0},
		{"kitten", "sitting", 3, 3}, {"ab", "ba", 1, 1},
		{"kitten", "sitting", 2, 3}, {"ab", "ba", 0, 1}, {"", "abc", 1, 2}, // above the limit
		{"ca", "abc", 3, 2}, // 3 when a swapped pair may not be edited further
		{"abcdef", "abdcef", 3, 1},
	} {
		require.Equal(t, c.want, new(table).distance([]rune(c.a), []rune(c.b), c.limit), "%q %q", c.a, c.b)
	}
}

// TestDistanceWithinLimitIsTheWholeTables compares the part of the table that
// is looked at with all of it, on words of two letters, in which pairs to swap
// stand everywhere.
func TestDistanceWithinLimitIsTheWholeTables(t *testing.T) {
	t.Parallel()
	words := [][]rune{nil}
	for i := 0; len(words) < 255; i++ {
		for _, r := range "ab" {
			words = append(words, append(slices.Clone(words[i]), r))
		}
	}
	var room table // used again and again, as Nearest does
	for _, a := range words {
		for _, b := range words {
			whole := wholeDistance(a, b)
			for limit := range furthest + 1 {
				require.Equal(t, min(whole, limit+1), room.distance(a, b, limit), "%q %q %d", string(a), string(b), limit)
			}
		}
	}
}

// wholeDistance fills the whole table, with one more border row and column that
// hold a distance no path can reach.
func wholeDistance(a, b []rune) int {
	unreachable := len(a) + len(b)
	cells := make([][]int, len(a)+2)
	for i := range cells {
		cells[i] = make([]int, len(b)+2)
		cells[i][0], cells[i][1] = unreachable, i-1
	}
	for j := range len(b) + 1 {
		cells[0][j+1], cells[1][j+1] = unreachable, j
	}
	cells[0][0] = unreachable
	lastRow := make(map[rune]int) // where a character was last seen in a
	for i := 1; i <= len(a); i++ {
		lastCol := 0 // where a[i-1] was last seen in b
		for j := 1; j <= len(b); j++ {
			row, col := lastRow[b[j-1]], lastCol
			replace := cells[i][j] + 1
			if a[i-1] == b[j-1] {
				replace = cells[i][j]
				lastCol = j
			}
			swap := cells[row][col] + (i - row - 1) + 1 + (j - col - 1)
			cells[i+1][j+1] = min(replace, cells[i+1][j]+1, cells[i][j+1]+1, swap)
		}
		lastRow[a[i-1]] = i
	}
	return cells[len(a)+1][len(b)+1]
}

// BenchmarkNearest looks for one name among a thousand that are much alike.
func BenchmarkNearest(b *testing.B) {
	for _, form := range []string{"STATE_%04d", "AWAITING_THE_CONFIRMATION_OF_THE_SECOND_WAREHOUSE_%04d"} {
		names := make([]string, 1000)
		for i := range names {
			names[i] = fmt.Sprintf(form, i)
		}
		b.Run(form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Nearest(fmt.Sprintf(form, 9999), names)
			}
		})
	}
}
