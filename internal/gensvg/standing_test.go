package gensvg_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/picture"
)

// Where a row stands and which step it took is marked, and nothing else changes.
func TestStanding(t *testing.T) {
	t.Parallel()
	m := parse(t, "m", `machine: m
states: {"a <b>": {initial: true}, B: {}, BB: {final: true}}
events: {"e & f": {}, g: {}, h: {}}
transitions:
  - {event: "e & f", from: "a <b>", to: B}
  - {event: g, from: "a <b>", to: B}
  - {event: h, from: B, to: BB}
`)
	svg, err := gensvg.Fragment(picture.Of(m), gensvg.Options{})
	require.NoError(t, err)
	plain := string(svg)

	marked := gensvg.Standing(plain, "B", &gensvg.Step{From: "a <b>", To: "B", Event: "e & f"})
	require.NoError(t, xml.Unmarshal([]byte(marked), new(any)))
	require.Equal(t, plain, strings.ReplaceAll(strings.ReplaceAll(marked, ` here"`, `"`), ` took"`, `"`))
	require.Equal(t, 1, strings.Count(marked, ` here"`), "B, and not what begins so")
	require.Regexp(t, `pawl-state[^"]* here" [^>]*data-state="B">`, marked)
	require.Equal(t, 2, strings.Count(marked, ` took"`), "the arrow, and its event alone")
	require.Regexp(t, `pawl-edge[^"]* took" [^>]*data-from="a &lt;b&gt;" data-to="B"`, marked)
	require.Regexp(t, `pawl-arc took" data-event="e &amp; f"`, marked)

	require.Equal(t, plain, gensvg.Standing(plain, "", nil))
	require.Equal(t, plain, gensvg.Standing(plain, "nowhere", &gensvg.Step{From: "B", To: "a <b>", Event: "h"}))
	require.Empty(t, gensvg.Standing("", "B", nil))
}
