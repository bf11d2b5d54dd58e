package gensvg_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// order is the machine of orders.
func order(t *testing.T) *model.Machine {
	t.Helper()
	for _, m := range real(t) {
		if m.Name == "order" {
			return m
		}
	}
	t.Fatal("there is no machine of orders")
	return nil
}

// Marks are further classes of what they are asked for, and change nothing else.
func TestMarksAreClasses(t *testing.T) {
	t.Parallel()
	p := picture.Of(order(t))
	plain, err := gensvg.Fragment(p, gensvg.Options{})
	require.NoError(t, err)
	nothing, err := gensvg.Fragment(p, gensvg.Options{Marks: &gensvg.Marks{State: func(*model.State) string { return "" }}})
	require.NoError(t, err)
	require.Equal(t, string(plain), string(nothing))
	marked, err := gensvg.Fragment(p, gensvg.Options{Marks: &gensvg.Marks{
		Whole: "is-marked",
		State: func(s *model.State) string { return map[bool]string{true: `a"b`}[s.Name == "PAID"] },
		Edge:  func(e *picture.Edge) string { return map[bool]string{true: "loop"}[e.Loop()] },
		Arc: func(_ *picture.Edge, a picture.Arc) string {
			return map[bool]string{true: "ship"}[a.Transition.Event.Name == "ship"]
		},
	}})
	require.NoError(t, err)
	text := string(marked)
	require.Contains(t, text, `class="pawl-svg is-marked"`)
	require.Regexp(t, `class="pawl-state[^"]* a&quot;b" id="[^"]*" data-state="PAID"`, text)
	require.Regexp(t, `class="pawl-edge [^"]* loop" id="[^"]*" data-from="PAYING" data-to="PAYING"`, text)
	require.Equal(t, 1, strings.Count(text, `class="pawl-arc ship" data-event="ship"`))
	require.Equal(t, 1, strings.Count(text, ` a&quot;b"`))
	text = strings.NewReplacer(" is-marked", "", " a&quot;b", "", ` ship"`, `"`, ` loop"`, `"`).Replace(text)
	require.Equal(t, string(plain), text)
}
