package diag

import (
	"strings"
	"unicode/utf8"
)

// longestName bounds the work on names that nobody would have meant to type.
const longestName = 64

// Nearest returns the candidate that name was most likely meant to be, for a
// "did you mean" in a message, or "" when none is near. Letter case does not
// count. Near means a Damerau–Levenshtein distance (insert, delete, replace,
// swap of neighbours) of at most a third of the longer name, and at most 3.
// Of equally near candidates the first wins. A candidate equal to name is
// passed over.
func Nearest(name string, candidates []string) string {
	if utf8.RuneCountInString(name) > longestName {
		return ""
	}
	from := []rune(strings.ToLower(name))
	best, bestDistance := "", 0
	for _, candidate := range candidates {
		n := utf8.RuneCountInString(candidate)
		if candidate == name || candidate == "" || n > longestName {
			continue
		}
		to := []rune(strings.ToLower(candidate))
		limit := min(max(len(from), len(to))/3, 3)
		if max(len(from), len(to))-min(len(from), len(to)) > limit {
			continue
		}
		d := distance(from, to)
		if d <= limit && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the unrestricted Damerau–Levenshtein distance: a swapped pair
// may be edited further. The table has one extra border row and column that
// holds a distance no path can reach.
func distance(a, b []rune) int {
	unreachable := len(a) + len(b)
	table := make([][]int, len(a)+2)
	for i := range table {
		table[i] = make([]int, len(b)+2)
	}
	table[0][0] = unreachable
	for i := 0; i <= len(a); i++ {
		table[i+1][0], table[i+1][1] = unreachable, i
	}
	for j := 0; j <= len(b); j++ {
		table[0][j+1], table[1][j+1] = unreachable, j
	}
	lastRow := make(map[rune]int) // where a character was last seen in a
	for i := 1; i <= len(a); i++ {
		lastCol := 0 // where a[i-1] was last seen in b
		for j := 1; j <= len(b); j++ {
			row, col := lastRow[b[j-1]], lastCol
			replace := table[i][j] + 1
			if a[i-1] == b[j-1] {
				replace = table[i][j]
				lastCol = j
			}
			swap := table[row][col] + (i - row - 1) + 1 + (j - col - 1)
			table[i+1][j+1] = min(replace, table[i+1][j]+1, table[i][j+1]+1, swap)
		}
		lastRow[a[i-1]] = i
	}
	return table[len(a)+1][len(b)+1]
}
