package diag

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// many adds problems from the last line to the first, each of them twice.
func many(count int) *List {
	var l List
	for i := count; i > 0; i-- {
		for range 2 {
			l.Addf(Position{"definitions/order.yaml", i, 9}, "FSM012", Error, "state %q is not declared", "STATE")
		}
	}
	return &l
}

// chunks is a writer that remembers the largest piece it was given, and refuses
// more than so many.
type chunks struct{ largest, left int }

func (c *chunks) Write(p []byte) (int, error) {
	if c.left--; c.left < 0 {
		return 0, io.ErrShortWrite
	}
	c.largest = max(c.largest, len(p))
	return len(p), nil
}

func TestTextOfManyProblemsIsWrittenAsItGoes(t *testing.T) {
	t.Parallel()
	l := many(100_000)
	require.Equal(t, 200_000, l.Len())
	require.Equal(t, 100_000, l.Errors())
	w := &chunks{left: 1 << 30}
	require.NoError(t, l.Text(w))
	require.LessOrEqual(t, w.largest, 64<<10)
	require.ErrorIs(t, l.Text(&chunks{left: 2}), io.ErrShortWrite)

	var b strings.Builder
	require.NoError(t, many(2).Text(&b))
	require.Equal(t, "definitions/order.yaml:1:9: FSM012 state \"STATE\" is not declared\n"+
		"definitions/order.yaml:2:9: FSM012 state \"STATE\" is not declared\n", b.String())
}

// BenchmarkList sorts, and prints, a list and one of twice its length.
func BenchmarkList(b *testing.B) {
	for _, count := range []int{50_000, 100_000} {
		l := many(count)
		b.Run(fmt.Sprint("sorted ", count), func(b *testing.B) {
			for b.Loop() {
				l.Sorted()
			}
		})
		b.Run(fmt.Sprint("text ", count), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, l.Text(io.Discard))
			}
		})
	}
}
