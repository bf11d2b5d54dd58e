package diag

import (
	"unicode"
	"unicode/utf8"
)

const (
	// longestName bounds the work on names that nobody would have meant to type.
	longestName = 64
	// furthest is the largest distance that still counts as near.
	furthest = 3
)

// Nearest returns the candidate that name was most likely meant to be, for a
// "did you mean" in a message, or "" when none is near. Letter case does not
// count. Near means a Damerau–Levenshtein distance (insert, delete, replace,
// swap of neighbours) of at most a third of the longer name, and at most 3.
// Of equally near candidates the first wins. A candidate equal to name is
// passed over.
//
// The time is linear in the number of candidates, and for each in its length.
func Nearest(name string, candidates []string) string {
	if utf8.RuneCountInString(name) > longestName {
		return ""
	}
	var room, other [longestName]rune
	var t table
	from := lowered(room[:0], name)
	best, bestDistance := "", furthest+1
	for _, candidate := range candidates {
		if candidate == name || candidate == "" || utf8.RuneCountInString(candidate) > longestName {
			continue
		}
		to := lowered(other[:0], candidate)
		longer := max(len(from), len(to))
		limit := min(longer/3, furthest, bestDistance-1)
		if limit < 0 {
			break // nothing is nearer than equal
		}
		if longer-min(len(from), len(to)) > limit {
			continue
		}
		if d := t.distance(from, to, limit); d <= limit {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// lowered appends the characters of s in lower case. That never changes their
// number, so a name's still fit.
func lowered(room []rune, s string) []rune {
	for _, r := range s {
		room = append(room, unicode.ToLower(r))
	}
	return room
}

// table has at [i][j] the distance of the first i characters of one name and j
// of another, as far as it was looked at: where i and j differ by more than the
// limit, so does the distance.
type table [longestName + 1][longestName + 1]int8

func (t *table) at(i, j, limit int) int {
	if i-j > limit || j-i > limit {
		return limit + 1
	}
	return int(t[i][j])
}

// distance is the unrestricted Damerau–Levenshtein distance of two names, in
// which a swapped pair may be edited further. Above limit it is limit+1.
func (t *table) distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	// Names that are taken for each other often begin and end alike.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for i := range int8(limit + 1) {
		t[i][0], t[0][i] = i, i
	}
	beyond := 0 // rows in succession without a cell within the limit
	for i := 1; i <= len(a); i++ {
		reached := i <= limit
		for j := max(1, i-limit); j <= min(len(b), i+limit); j++ {
			d := t.at(i-1, j-1, limit)
			if a[i-1] != b[j-1] {
				d = min(d, t.swap(a, b, i, j, limit)) + 1
			}
			d = min(d, t.at(i, j-1, limit)+1, t.at(i-1, j, limit)+1, limit+1)
			t[i][j] = int8(d)
			reached = reached || d <= limit
		}
		if beyond++; reached {
			beyond = 0
		}
		if beyond > limit {
			return limit + 1 // a swap within the limit skips fewer rows
		}
	}
	return t.at(len(a), len(b), limit)
}

// swap returns the distance before a swapped pair that ends with a[i-1] and
// b[j-1], with what was edited between its halves.
func (t *table) swap(a, b []rune, i, j, limit int) int {
	row, col := i-1, j-1
	for row > 0 && i-row <= limit && a[row-1] != b[j-1] {
		row--
	}
	for col > 0 && j-col <= limit && b[col-1] != a[i-1] {
		col--
	}
	if row == 0 || col == 0 || a[row-1] != b[j-1] || b[col-1] != a[i-1] {
		return limit + 1
	}
	return t.at(row-1, col-1, limit) + (i - row - 1) + (j - col - 1)
}
