package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A life goes the ways it is told, from the creation of the row, with data that
// suit all of them together.
func TestALifeOfItsOwn(t *testing.T) {
	t.Parallel()
	m := sample(t, "order")
	maker := For(m)
	ways, ok := maker.Shortest(m.State("REFUNDED"))
	require.True(t, ok)
	c := maker.Life("own", ways)
	require.Equal(t, "own", c.ID)
	require.Nil(t, c.Start)
	require.Same(t, m.State("REFUNDED"), c.Steps[len(c.Steps)-1].To)
	at := m.Initial()
	for i, s := range c.Steps {
		require.Empty(t, s.Unknown)
		require.Same(t, at, s.From)
		require.Same(t, ways[i].Variant().Transition, s.Transition)
		at = s.To
	}
	require.NotEmpty(t, c.Given)

	ways, ok = maker.Shortest(m.Initial())
	require.True(t, ok)
	require.Empty(t, ways)
	cell := m.Event("ship").Cells[m.State("PAID").Index]
	require.Equal(t, Way{cell, 0}, WayOf(cell, cell.Transitions[0]))

	lonely := machine(t, "machine: m\nstates: {A: {initial: true}, B: {final: true}, C: {retired: true}}\nevents: {e: {}, f: {}}\ntransitions: [{event: e, from: A, to: B}, {event: f, from: C, to: B}]\n")
	_, ok = For(lonely).Shortest(lonely.State("C"))
	require.False(t, ok)
}
