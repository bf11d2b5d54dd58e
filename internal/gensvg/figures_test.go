package gensvg_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/picture"
)

// A picture has a place for a figure at each state and at each arrow with words, and is
// otherwise what it is without.
func TestPlacesForFigures(t *testing.T) {
	t.Parallel()
	m := real(t)[0]
	p := picture.Of(m)
	bare, err := gensvg.Fragment(p, gensvg.Options{ID: "x"})
	require.NoError(t, err)
	with, err := gensvg.Fragment(p, gensvg.Options{ID: "x", Figures: true})
	require.NoError(t, err)
	place := regexp.MustCompile(`<g class="pawl-figure" id="x-([fg])[0-9]+" transform="translate\([0-9]+ [0-9]+\)"></g>\n`)
	n := map[string]int{}
	for _, at := range place.FindAllStringSubmatch(string(with), -1) {
		n[at[1]]++
	}
	require.Equal(t, map[string]int{"f": len(m.States), "g": len(p.Edges)}, n)
	require.Len(t, place.FindAllString(string(with), -1), strings.Count(string(with), "pawl-figure"))
	require.Equal(t, string(bare), place.ReplaceAllString(string(with), ""))
}
