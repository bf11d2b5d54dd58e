package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPositionString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pos  Position
		want string
	}{
		{Position{"a.yaml", 3, 7}, "a.yaml:3:7"},
		{Position{"a.yaml", 3, 0}, "a.yaml:3"},
		{Position{"a.yaml", 0, 0}, "a.yaml"},
		{Position{}, "-"},
		{Position{"", 2, 1}, "-:2:1"},
	} {
		require.Equal(t, c.want, c.pos.String())
	}
}

func TestZeroListIsEmpty(t *testing.T) {
	t.Parallel()
	var l List
	require.Zero(t, l.Errors())
	require.NotNil(t, l.Sorted())
	require.Empty(t, l.Sorted())
	var none *List
	require.Zero(t, none.Errors())
	require.Zero(t, none.Len())
	require.Empty(t, none.Sorted())
}

func TestSortedOrdersAndDropsRepeats(t *testing.T) {
	t.Parallel()
	at := func(file string, line, col int, code Code, msg string) Problem {
		return Problem{Pos: Position{file, line, col}, Code: code, Message: msg}
	}
	want := []Problem{
		at("a", 0, 0, "FSM009", "z"),
		at("a", 2, 1, "FSM001", "a"),
		at("a", 2, 1, "FSM001", "b"),
		at("a", 2, 1, "FSM002", "a"),
		at("a", 2, 10, "FSM001", "a"),
		at("a", 10, 1, "FSM001", "a"),
		at("b", 1, 1, "FSM001", "a"),
	}
	var l List
	for _, i := range []int{6, 3, 0, 5, 2, 4, 1, 3, 6} {
		l.Add(want[i])
	}
	require.Equal(t, want, l.Sorted())
	require.Equal(t, 7, l.Errors())
	require.Equal(t, 9, l.Len())
}

func TestErrorsLeavesWarningsOut(t *testing.T) {
	t.Parallel()
	var l, more List
	l.Addf(Position{File: "a"}, "FSM001", Warning, "%d of %s", 2, "x")
	more.Addf(Position{File: "a"}, "FSM002", Error, "bad")
	l.Append(&more)
	l.Append(nil)
	require.Equal(t, 1, l.Errors())
	require.Equal(t, "2 of x", l.Sorted()[0].Message)
}
