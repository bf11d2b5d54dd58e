package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// pairs is a definition of so many cells, each with two guards of its own that
// exclude and cover each other.
func pairs(cells int) string {
	const states = 100
	var b strings.Builder
	b.WriteString("machine: pairs\ntable:\n  name: pairs\n  key: {column: pair_id, type: uuid}\n  columns:\n    total: {type: bigint, check: total >= 0}\n" +
		"states:\n  STATE_000: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  STATE_%03d: {resting: true}\n", i)
	}
	b.WriteString("events:\n")
	for i := range (cells + states - 1) / states {
		fmt.Fprintf(&b, "  event_%02d: {expect: version, params: {sum: bigint}}\n", i)
	}
	b.WriteString("transitions:\n")
	for i := range cells {
		for _, op := range []string{">", "<="} {
			fmt.Fprintf(&b, "  - {event: event_%02d, from: STATE_%03d, to: STATE_%03d, guard: {sql: 'total %s @sum AND @sum <> %d OR @sum = %d AND total %s 5'}}\n", i/states, i%states, (i+1+len(op))%states, op, i, i, op)
		}
	}
	return b.String()
}

// BenchmarkPairs measures the analysis of guards where no cell is like another.
func BenchmarkPairs(b *testing.B) {
	var problems diag.List
	root := syntax.Parse("d.yaml", []byte(pairs(5000)), &problems)
	for b.Loop() {
		found := &diag.List{}
		check.Run(root, found)
		if found.Len() != 0 {
			b.Fatal(found.Sorted()[0])
		}
	}
}
