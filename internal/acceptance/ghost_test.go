package acceptance

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/internal/linear"
)

// A row that no recorded call made is refused, where the history began with an empty
// table and where it says that it knows all rows from before; those it does know are
// none.
func TestARowThatNobodyMadeIsRefused(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		s := open(t)
		var history bytes.Buffer
		rec := record.New(&history, "order")
		if before {
			s.must(asksCreate(key1).by(record.New(&bytes.Buffer{}, "order"), "somebody before", false))
			require.NoError(t, rec.Began(t.Context(), s.pool, orders))
		}
		s.must(asksCreate(key2).by(rec, "customer", false))
		require.NoError(t, rec.Found(t.Context(), s.pool, orders))
		v := s.verdict(&history)
		require.Equal(t, linear.Accepted, v.Result(), v.Findings())

		s.must(asksCreate(key3).by(record.New(&bytes.Buffer{}, "order"), "somebody else", false))
		require.NoError(t, rec.Found(t.Context(), s.pool, orders))
		v = s.verdict(&history)
		require.Equal(t, []string{string(key3)}, v.Refused)
		require.Zero(t, v.Strangers)
	}
}

// A column that the table does not have is told, and not passed over.
func TestAMisspeltColumnIsTold(t *testing.T) {
	t.Parallel()
	s := open(t)
	rec := record.New(&bytes.Buffer{}, "order")
	s.must(asksCreate(key1).by(rec, "customer", false))
	table := orders
	table.Columns = []string{"total_cents", "total_centz"}
	require.ErrorContains(t, rec.Found(t.Context(), s.pool, table), "total_centz")
	require.ErrorContains(t, rec.Began(t.Context(), s.pool, table), "total_centz")
}
