package fileset

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func newSet(t testing.TB, files ...string) *Set {
	t.Helper()
	s := New()
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, s.Add(files[i], []byte(files[i+1])))
	}
	return s
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		want error
	}{
		{"", ErrBadPath}, {".", ErrBadPath}, {"/etc/passwd", ErrBadPath}, {"..", ErrBadPath}, {"../x", ErrBadPath},
		{"a/../b", ErrBadPath}, {"a//b", ErrBadPath}, {"a/", ErrBadPath}, {"./a", ErrBadPath}, {`a\b`, ErrBadPath},
		{"a\x00b", ErrBadPath}, {"a\nb", ErrBadPath}, {"C:x", ErrBadPath}, {"a\xff", ErrBadPath},
		{"gen/order/a.go", ErrDuplicate},
		{"gen/order/A.go", ErrCaseClash}, {"GEN/other.go", ErrCaseClash}, {"gen/order", ErrCaseClash},
		{"gen/ORDER", ErrCaseClash}, {"gen/order/a.go/b", ErrCaseClash}, {"gen/\u212Aey", ErrCaseClash},
	} {
		s := newSet(t, "gen/order/a.go", "1", "gen/key", "2")
		require.ErrorIs(t, s.Add(c.path, []byte("x")), c.want, "%q", c.path)
		require.Equal(t, []string{"gen/key", "gen/order/a.go"}, s.Paths())
		require.NoError(t, s.Add("gen/order/c.go", nil), "a refusal must leave nothing behind")
	}
}

func TestRefusalLeavesTheSetUnchanged(t *testing.T) {
	t.Parallel()
	s := newSet(t, "a/b", "1")
	require.ErrorIs(t, s.Add("x/y/../z", nil), ErrBadPath)
	require.ErrorIs(t, s.Add("a/B/c", nil), ErrCaseClash)
	require.NoError(t, s.Add("X/y", nil))
}

func TestSetKeepsCopies(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	s := New()
	require.NoError(t, s.Add("b", content))
	require.NoError(t, s.Add("a", nil))
	content[0] = 'x'
	got, ok := s.Get("b")
	require.True(t, ok)
	require.Equal(t, "abc", string(got))
	got[0] = 'y'
	again, _ := s.Get("b")
	require.Equal(t, "abc", string(again))
	_, ok = s.Get("c")
	require.False(t, ok)
	_, ok = s.Get("a")
	require.True(t, ok)
	require.Equal(t, []string{"a", "b"}, s.Paths())
	require.Equal(t, 2, s.Len())
	require.Nil(t, New().Paths())
}
