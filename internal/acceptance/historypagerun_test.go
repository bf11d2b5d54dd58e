package acceptance

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/linear"
)

// What the page's program records of orders that are there is accepted, by itself.
func TestTheHistoryOfThePage(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	path := t.TempDir() + "/history.jsonl"
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, pageHistory(t.Context(), s.pool, file, []order.Key{key1, key2, key3}))
	require.NoError(t, file.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	v := s.verdict(bytes.NewBuffer(text))
	require.Equal(t, linear.Accepted, v.Result(), "%s", v.Findings())
	require.Equal(t, []int{26, 3, 0}, []int{v.Operations, v.Rows, v.Either}) // 8 clients, 3 rows of which 2 are there and looked at
}
