package fsmtest

import (
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// A row's key is what the outbox has, however the session writes dates.
func TestAKeyHasOneText(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(testdb.URL(t))
	require.NoError(t, err)
	config.ConnConfig.RuntimeParams["datestyle"] = "German"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for want, types := range map[string][]string{
		"2000-01-02": {"date"}, "1": {"bigint"}, "true": {"boolean"}, `["k1", "2000-01-02"]`: {"text", "date"},
	} {
		m := Machine{}
		for _, typ := range types {
			m.Key = append(m.Key, Column{Name: "k", Type: typ})
		}
		r, err := (&engine{m: &m, pool: pool, keys: new(atomic.Int64)}).newKey(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, r.text)
	}
}
