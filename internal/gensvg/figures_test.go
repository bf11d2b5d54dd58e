package gensvg_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/picture"
)

// numbers matches a pattern whose groups are numbers.
func numbers(t *testing.T, pattern, text string) [][]int {
	t.Helper()
	var all [][]int
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		var row []int
		for _, digits := range found[1:] {
			n, err := strconv.Atoi(digits)
			require.NoError(t, err)
			row = append(row, n)
		}
		all = append(all, row)
	}
	return all
}

// A picture has a place for a figure at each state and behind each event on an arrow,
// and one without figures has none. What stands in such a place is within the label of
// its arrow, behind the text of its line, and clear of the other places.
func TestPlacesForFigures(t *testing.T) {
	t.Parallel()
	for _, m := range real(t) {
		p := picture.Of(m)
		bare, err := gensvg.Fragment(p, gensvg.Options{ID: "x"})
		require.NoError(t, err)
		require.NotContains(t, string(bare), "pawl-figure")
		content, err := gensvg.Fragment(p, gensvg.Options{ID: "x", Figures: true})
		require.NoError(t, err)
		with := string(content)
		require.Len(t, numbers(t, `id="x-f([0-9]+)" transform="translate\([0-9]+ [0-9]+\)"></g>`, with), len(m.States))

		for i, e := range p.Edges {
			_, label, found := strings.Cut(with, `id="x-e`+strconv.Itoa(i+1)+`" `)
			require.True(t, found)
			label, _, _ = strings.Cut(label, `<g class="pawl-edge`)
			box := numbers(t, `<rect class="pill" x="(-?[0-9]+)" y="(-?[0-9]+)" width="([0-9]+)" height="([0-9]+)"`, label)[0]
			places := numbers(t, `id="x-g([0-9]+)-([0-9]+)" transform="translate\((-?[0-9]+) (-?[0-9]+)\)"></g>`, label)
			require.Len(t, places, len(e.Arcs), "one for each event")
			below := box[1]
			for a, at := range places {
				require.Equal(t, []int{i + 1, a + 1}, at[:2])
				x, top, bottom := at[2], at[3]-gensvg.FigureHeight/2, at[3]+gensvg.FigureHeight/2
				require.LessOrEqual(t, below, top, "clear of the one above")
				require.LessOrEqual(t, x+gensvg.FigureWidth, box[0]+box[2])
				require.LessOrEqual(t, bottom, box[1]+box[3])
				before, _, _ := strings.Cut(label, `id="x-g`+strconv.Itoa(i+1)+`-`+strconv.Itoa(a+1)+`"`)
				text := regexp.MustCompile(`<text class="t-event[^"]*" x="(-?[0-9]+)" y="(-?[0-9]+)">([^<]*)</text>\s*<g class="pawl-figure" $`).FindStringSubmatch(before)
				require.NotNil(t, text, "it stands behind a line of its event")
				left, err := strconv.Atoi(text[1])
				require.NoError(t, err)
				require.Greater(t, x, left+4*len([]rune(text[3])), "behind %q", text[3])
				below = bottom
			}
		}
	}
}
