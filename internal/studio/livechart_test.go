package studio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The last minute is one bar, in which each sort of answer has its share; older ones are
// not in it.
func TestTheLastMinuteIsOneBar(t *testing.T) {
	t.Parallel()
	taken, again := series{Class: "applied"}, series{Class: "duplicate"}
	taken.add(0, 1)
	taken.add(1, 50)
	again.add(0, 3)
	c := chart{Series: []series{taken, {Class: "odd"}, again}}
	require.EqualValues(t, 4, c.Now())
	require.Contains(t, string(c.Latest()), `<rect class="bar applied" x="0.0" width="250.0" height="10"/><rect class="bar duplicate" x="250.0" width="750.0" height="10"/></svg>`)
	require.NotContains(t, string(chart{Series: []series{{Class: "odd"}}}.Latest()), "rect")
}
