package sqlexpr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

func TestFormsThatSayTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"total_cents = @paid_cents", "total_cents=@paid_cents"},
		{"a > 0 and b is not null", "A > 0\n  AND B IS NOT NULL"},
		{"a > 0 AND b > 0", "b > 0 AND (a > 0)"},
		{"a > 0 AND (b > 0 AND c > 0)", "(a > 0 AND b > 0) AND c > 0"},
		{"a <> 1", "(a != 1)"},
		{"@Amount + 1 < a", "(@amount + 1) < a"},
		{"now()", "NOW( )"},
		{"coalesce(a, 0)", "COALESCE(a,0)"},
		{"", ""},
		{"a >", "a >"}, // nothing that Parse takes, and still itself
	} {
		f, g := sqlexpr.FormOf(c[0]), sqlexpr.FormOf(c[1])
		require.True(t, f.Equal(g), c)
		require.True(t, g.Equal(f), c)
		require.True(t, f.Implies(g) && g.Implies(f), c)
	}
}

func TestFormsThatSayAnother(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"a > 0", "a > 1"}, {"a > 0", "a >= 0"}, {"a > 0", "@a > 0"}, {"@a > 0", "@b > 0"}, {"a = 'X'", "a = 'x'"}, {"a = 'X'", "a = 'X '"},
		{"a > 0 AND b > 0", "a > 0 OR b > 0"}, {"a - (b - c) > 0", "a - b - c > 0"}, {"a > 0", "a > 0 AND b > 0"},
		{"a = 0", "a = 0.0"}, {"a", "b"}, {"a", "NOT a"}, {"a IS TRUE", "a IS FALSE"}, {"a = true", "a = false"}, {"a >", "b >"}, {"", "a"},
	} {
		f, g := sqlexpr.FormOf(c[0]), sqlexpr.FormOf(c[1])
		require.False(t, f.Equal(g), c)
		require.False(t, g.Equal(f), c)
	}
}

func TestImplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f, g string
		want bool
	}{
		{"a > 0 AND b > 0", "a > 0", true},
		{"a > 0", "a > 0 AND b > 0", false},
		{"a > 5", "a > 0", true}, {"a > 5", "a >= 5", true}, {"a >= 5", "a > 5", false}, {"a >= 6", "a > 5", true}, {"a = 6", "a > 5", true},
		{"a = 5", "a > 5", false}, {"a = 5", "a <= 5", true}, {"a < 5", "a < 6", true}, {"a < 5", "a <= 5", true}, {"a <= 5", "a < 5", false},
		{"a < 5", "a > 0", false}, {"a > 5", "b > 0", false}, {"a > 5 AND c > 0", "a > 0 AND c > -1", true}, {"a > -5", "a > -1", false},
		{"a > 0", "a <> 0", false}, {"a > 9007199254740993", "a > 9007199254740992", false}, {"a > 0 OR b > 0", "a > 0", false},
	} {
		require.Equal(t, c.want, sqlexpr.FormOf(c.f).Implies(sqlexpr.FormOf(c.g)), "%s => %s", c.f, c.g)
	}
}
