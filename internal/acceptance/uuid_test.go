package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/testdb"
)

// Which texts are a uuid, and which uuid, PostgreSQL and the calls agree on: a batch
// takes two spellings of one key for one row.
func TestUUIDsAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	e := &fsm.EventInfo{Machine: "order", Event: "pay"}
	taken := 0
	for _, text := range []string{
		"00000000-0000-4000-8000-00000000000a", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
		"a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
		"a-0eebc999c0b4ef8bb6d6bb9bd380a11", "a0-eebc999c0b4ef8bb6d6bb9bd380a11", "-a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11-", "{a0eebc999c0b4ef8bb6d6bb9bd380a11-}",
		"a0eebc99--9c0b4ef8bb6d6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11}", "{{a0eebc999c0b4ef8bb6d6bb9bd380a11}}", " a0eebc999c0b4ef8bb6d6bb9bd380a11",
		"a0eebc999c0b4ef8bb6d6bb9bd380a1", "a0eebc999c0b4ef8bb6d6bb9bd380a111", "g0eebc999c0b4ef8bb6d6bb9bd380a11", "", "{}", "-", "a0eeb-c999c0b4ef8bb6d6bb9bd380a11",
	} {
		var is string
		refused := pool.QueryRow(t.Context(), "SELECT $1::text::uuid::text", text).Scan(&is)
		require.Equal(t, refused == nil, fsm.UUIDText(e, "key", text) == nil, "%q: %v", text, refused)
		if refused == nil {
			taken++
			require.Equal(t, is, fsm.CanonicalUUID(text))
		}
	}
	require.Equal(t, 6, taken)
}
