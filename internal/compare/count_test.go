package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/compare"
)

func reasonOf(c *compare.Change, side compare.Side) compare.Reason {
	for _, r := range c.Reasons {
		if r.Side == side {
			return r
		}
	}
	return compare.Reason{}
}

// Rows decide whether the removal of a state is safe; the constant is gone
// either way.
func TestCount(t *testing.T) {
	t.Parallel()
	r := report(t, "state-removed-after-retirement")
	c := r.Uncounted()[0]
	require.Equal(t, "PACKED", c.Gone.State)
	require.Equal(t, "orders", c.Gone.Table.Name)
	require.False(t, c.Safe())

	c.Count(0)
	require.True(t, c.Safe())
	require.Equal(t, compare.Major, c.Semver())
	require.Equal(t, "none stands in PACKED as of now; the migration that takes it away checks again", reasonOf(c, compare.Rows).Text)
	require.Zero(t, r.Breaking())

	c.Count(1)
	require.False(t, c.Safe())
	require.Equal(t, "1 stands in PACKED and could not be read or moved; move it first", reasonOf(c, compare.Rows).Text)
	require.EqualValues(t, 1, *c.Gone.Count)

	c.NotCounted("there is no table orders")
	require.False(t, c.Safe())
	require.Nil(t, c.Gone.Count)
	require.Equal(t, "those in PACKED could not be counted: there is no table orders", reasonOf(c, compare.Rows).Text)
}

// The end of a former name is no matter of Go once no row has it.
func TestCountOfAFormerName(t *testing.T) {
	t.Parallel()
	r := report(t, "state-was-removed")
	c := r.Uncounted()[0]
	require.Equal(t, "PAID", c.Gone.State)
	c.Count(0)
	require.True(t, c.Safe())
	require.Equal(t, compare.Patch, r.Semver())
}

// A column of codes holds the code that the old definitions gave.
func TestCountByCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, 25, report(t, "state-removed-with-a-code").Uncounted()[0].Gone.Code)
}

// A declared renaming, a retirement and a machine without a table have nothing to count.
func TestNothingToCount(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"state-renamed", "state-retired", "state-removed-without-a-table", "state-renamed-with-a-code", "state-was-removed-with-a-code"} {
		require.Empty(t, report(t, name).Uncounted(), name)
	}
	c := report(t, "table-name").Changes[0]
	c.Count(0)
	c.NotCounted("why")
	require.False(t, c.Safe())
	require.Nil(t, c.Gone)
}
