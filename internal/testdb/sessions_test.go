package testdb

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A session that is left open is told, with what it did last, and the database is
// dropped all the same.
func TestSessionsThatAreLeftAreTold(t *testing.T) {
	t.Parallel()
	admin := adminURL(t)
	name := "pawl_t_left_open"
	conn, err := pgx.Connect(t.Context(), admin)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	url, err := withDatabase(admin, name)
	require.NoError(t, err)
	left, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = left.Close(context.Background()) }() // the server has ended it, and nothing before that may
	_, err = left.Exec(t.Context(), "SELECT 'left by a test'")
	require.NoError(t, err)

	err = dropDatabase(admin, name, true)
	require.ErrorIs(t, err, errSessions)
	require.ErrorContains(t, err, "left by a test")
	found, err := exists(t.Context(), conn, name)
	require.NoError(t, err)
	require.False(t, found)
}
