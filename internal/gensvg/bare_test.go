package gensvg_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// A page that has name, description and legend elsewhere gets the drawing alone.
func TestTitleAndLegendCanBeLeftOut(t *testing.T) {
	t.Parallel()
	a, b := &model.State{Name: "A", Initial: true}, &model.State{Name: "B", Final: true, Index: 1}
	e := &model.Event{Name: "go", Callback: true}
	m := &model.Machine{Name: "m", Package: "m", Describe: "described here", States: []*model.State{a, b}, Events: []*model.Event{e},
		Transitions: []*model.Transition{{Event: e, From: []*model.State{a}, To: b}}}
	e.Cells = []*model.Cell{{State: a, Event: e, Transitions: m.Transitions}, {State: b, Event: e, Otherwise: model.Ignore}}
	height := func(o gensvg.Options) int {
		svg, err := gensvg.Fragment(picture.Of(m), o)
		require.NoError(t, err)
		require.Equal(t, !o.NoTitle, regexp.MustCompile(`<text[^>]*>described here<`).Match(svg))
		require.Equal(t, !o.NoLegend, regexp.MustCompile(`class="pawl-legend"`).Match(svg))
		h, err := strconv.Atoi(string(regexp.MustCompile(`height="(\d+)"`).FindSubmatch(svg)[1]))
		require.NoError(t, err)
		return h
	}
	whole, titled, bare := height(gensvg.Options{}), height(gensvg.Options{NoLegend: true}), height(gensvg.Options{NoTitle: true, NoLegend: true})
	require.Greater(t, whole, titled)
	require.Greater(t, titled, bare)
}
