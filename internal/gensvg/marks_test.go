package gensvg_test

import (
	"fmt"
	"strings"
	"sync"
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
	drawing, err := gensvg.Draw(p, gensvg.Options{})
	require.NoError(t, err)
	require.Equal(t, string(plain), drawing.Marked(&gensvg.Marks{State: func(*model.State) string { return "" }}))
	text := drawing.Marked(&gensvg.Marks{
		Whole: "is-marked",
		State: func(s *model.State) string { return map[bool]string{true: `a"b`}[s.Name == "PAID"] },
		Edge:  func(e *picture.Edge) string { return map[bool]string{true: "loop"}[e.Loop()] },
		Arc: func(_ *picture.Edge, a picture.Arc) string {
			return map[bool]string{true: "ship"}[a.Transition.Event.Name == "ship"]
		},
	})
	require.Contains(t, text, `class="pawl-svg is-marked"`)
	require.Regexp(t, `class="pawl-state[^"]* a&quot;b" id="[^"]*" data-state="PAID"`, text)
	require.Regexp(t, `class="pawl-edge [^"]* loop" id="[^"]*" data-from="PAYING" data-to="PAYING"`, text)
	require.Equal(t, 1, strings.Count(text, `class="pawl-arc ship" data-event="ship"`))
	require.Equal(t, 1, strings.Count(text, ` a&quot;b"`))
	text = strings.NewReplacer(" is-marked", "", " a&quot;b", "", ` ship"`, `"`, ` loop"`, `"`).Replace(text)
	require.Equal(t, string(plain), text)
}

// One drawing is marked in many ways at once, and each time as if it were drawn anew;
// figures stand in their places, as they are.
func TestADrawingIsMarkedAgainAndAgain(t *testing.T) {
	t.Parallel()
	p := picture.Of(order(t))
	d, err := gensvg.Draw(p, gensvg.Options{Figures: true})
	require.NoError(t, err)
	marks := func(state, event string) *gensvg.Marks {
		return &gensvg.Marks{
			State:       func(s *model.State) string { return map[bool]string{true: "here now"}[s.Name == state] },
			Edge:        func(e *picture.Edge) string { return map[bool]string{true: "took"}[e.From.Name == state] },
			StateFigure: func(s *model.State) string { return "<b>" + s.Name + "</b>" },
			ArcFigure: func(e *picture.Edge, arc int) string {
				return map[bool]string{true: "<i>" + event + "</i>"}[e.Arcs[arc].Transition.Event.Name == event]
			},
		}
	}
	var all sync.WaitGroup
	got := make([]string, len(p.Machine.States))
	for i, s := range p.Machine.States {
		all.Go(func() { got[i] = d.Marked(marks(s.Name, "ship")) })
	}
	all.Wait()
	for i, s := range p.Machine.States {
		anew, err := gensvg.Draw(p, gensvg.Options{Figures: true})
		require.NoError(t, err)
		require.Equal(t, anew.Marked(marks(s.Name, "ship")), got[i])
		require.Equal(t, 1, strings.Count(got[i], ` here now"`))
		require.Equal(t, 1, strings.Count(got[i], "<i>ship</i></g>"))
		for n, other := range p.Machine.States {
			require.Regexp(t, fmt.Sprintf(`id="order-f%d" transform="[^"]*"><b>%s</b></g>`, n+1, other.Name), got[i])
		}
	}
	plain, err := gensvg.Fragment(p, gensvg.Options{Figures: true})
	require.NoError(t, err)
	require.Equal(t, string(plain), d.Marked(nil), "what was marked before leaves no trace")
}
