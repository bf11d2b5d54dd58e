package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// large is a definition with everything that a transition can have, written
// with one transition a line, or with one part a line.
func large(states, transitions int, oneLine bool) string {
	var b strings.Builder
	b.WriteString("machine: large\nstates:\n")
	for i := range states {
		fmt.Fprintf(&b, "  STATE_%04d: {label: {zh: 状态, en: State %d}, deadline: {after: 30m, event: event_00, max: 3}}\n", i, i)
	}
	transition := "  - {event: payment_event_%02d, from: [STATE_%04d, STATE_%04d], to: STATE_%04d, guard: amount_matches, " +
		"set: {paid_cents: '@paid_cents', payment_no: '@payment_no', paid_at: now()}, emit: [order_paid]}\n"
	if !oneLine {
		transition = "  - event: payment_event_%02d\n    from: [STATE_%04d, STATE_%04d]\n    to: STATE_%04d\n    guard: amount_matches\n" +
			"    set:\n      paid_cents: '@paid_cents'\n      payment_no: '@payment_no'\n      paid_at: now()\n    emit:\n      - order_paid\n"
	}
	b.WriteString("transitions:\n")
	for i := range transitions {
		fmt.Fprintf(&b, transition, i%50, i%states, (i+1)%states, (i+2)%states)
	}
	return b.String()
}

func TestTheLargestMachineFits(t *testing.T) {
	t.Parallel()
	for _, oneLine := range []bool{true, false} {
		root, list := parse(t, large(1000, 10_000, oneLine))
		require.Empty(t, list.Sorted())
		require.Len(t, root.AsMapping().Get("states").AsMapping().Entries, 1000)
		items := root.AsMapping().Get("transitions").AsSequence().Items
		require.Len(t, items, 10_000)
		require.Equal(t, "STATE_0001", items[9999].AsMapping().Get("to").AsScalar().Text)
	}
}

// A position is found by walking once over its scalar, so one far into a long
// text must not walk over what it has walked before.
func TestPosAtInLongRunsOfBlanks(t *testing.T) {
	t.Parallel()
	blanks := strings.Repeat(" ", maxLineBytes-10)
	root, list := parse(t, `a: "b`+strings.Repeat(blanks+"c\n", 200)+`\0"`)
	require.Equal(t, []string{"201:1 FSM007"}, found(list))
	require.Equal(t, 201, root.AsMapping().Get("a").AsScalar().PosAt(1<<30).Line)
}

// BenchmarkParse measures the largest machine, twice it, and it as one value in
// brackets; the time for a byte should stay.
func BenchmarkParse(b *testing.B) {
	json := func(transitions int) string {
		var b strings.Builder
		b.WriteString("{\"machine\": \"large\", \"transitions\": [\n")
		for i := range transitions {
			fmt.Fprintf(&b, "{\"event\": \"event_%02d\", \"from\": [\"STATE_%04d\"], \"to\": \"STATE_%04d\"},\n", i%50, i%1000, (i+1)%1000)
		}
		b.WriteString("]}\n")
		return b.String()
	}
	for _, c := range []struct{ name, src string }{
		{"500 states", large(500, 5_000, true)},
		{"1000 states", large(1000, 10_000, true)},
		{"2000 states", large(2000, 20_000, true)},
		{"1000 states below each other", large(1000, 10_000, false)},
		{"json of 5000", json(5_000)},
		{"json of 10000", json(10_000)},
	} {
		src := []byte(c.src)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				var list diag.List
				if Parse("d.yaml", src, &list) == nil {
					b.Fatal(list.Sorted())
				}
			}
		})
	}
}
