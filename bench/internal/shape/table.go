package shape

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/bench/internal/stat"
)

// Markdown is the table of costs, the first of which the others are compared with.
func Markdown(costs []Cost) string {
	var b strings.Builder
	b.WriteString("| shape | first × | spread | again × | spread | trips | WAL records | WAL bytes | buffers | WAL bytes again | buffers again | true in races |\n")
	b.WriteString("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n")
	for _, c := range costs {
		right, of := c.True()
		fmt.Fprintf(&b, "| %s | %s | %s | %d, %d | %.1f | %.0f | %.1f |", c.Shape.Name, times(c.First, costs[0].First), times(c.Again, costs[0].Again),
			c.Shape.Trips[0], c.Shape.Trips[1], c.PerFirst.WALRecords, c.PerFirst.WALBytes, c.PerFirst.Buffers)
		if c.Shape.Silent {
			b.WriteString(" | |")
		} else {
			fmt.Fprintf(&b, " %.0f | %.1f |", c.PerAgain.WALBytes, c.PerAgain.Buffers)
		}
		fmt.Fprintf(&b, " %d of %d |\n", right, of)
	}
	for _, c := range costs {
		if faults := c.Faults(); faults != "" {
			fmt.Fprintf(&b, "\n- %s: %s.", c.Shape.Name, faults)
		}
	}
	if len(costs) > 0 {
		fmt.Fprintf(&b, "\n\nThe generated statement took %.0f µs for a first delivery and %.0f µs for a duplicate.\n",
			stat.Of(costs[0].First).Median, stat.Of(costs[0].Again).Median)
	}
	return b.String()
}

// times is the median of what a takes of b's time, round by round, and the
// quartiles; two empty cells where nothing was measured.
func times(a, b []float64) string {
	s := stat.Of(stat.Ratios(a, b))
	if s.N == 0 {
		return " | "
	}
	return fmt.Sprintf("%.2f | %.2f – %.2f", s.Median, s.Low, s.High)
}
