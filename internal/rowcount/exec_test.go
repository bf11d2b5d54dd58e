package rowcount_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// execIn returns a function that runs statements in the database.
func execIn(t *testing.T, url string) func(string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(ctx)) })
	return func(sql string) {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
}
