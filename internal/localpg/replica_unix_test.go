//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestReplica(t *testing.T) {
	t.Parallel()
	primary, err := Start(t.Context(), Options{Fast: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = primary.Stop() })
	replica, err := Start(t.Context(), Options{Fast: true, ReplicaOf: primary})
	require.NoError(t, err)
	t.Cleanup(func() { _ = replica.Stop() })
	require.NotEqual(t, primary.URL, replica.URL)

	write, err := pgx.Connect(t.Context(), primary.URL)
	require.NoError(t, err)
	defer func() { _ = write.Close(context.Background()) }()
	read, err := pgx.Connect(t.Context(), replica.URL)
	require.NoError(t, err)
	defer func() { _ = read.Close(context.Background()) }()

	_, err = write.Exec(t.Context(), "CREATE TABLE t AS SELECT 7 AS n")
	require.NoError(t, err)
	var lsn string
	require.NoError(t, write.QueryRow(t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&lsn))
	for behind := true; behind; {
		require.NoError(t, read.QueryRow(t.Context(), "SELECT pg_last_wal_replay_lsn() < $1::pg_lsn", lsn).Scan(&behind))
	}
	var n int
	require.NoError(t, read.QueryRow(t.Context(), "SELECT n FROM t").Scan(&n))
	require.Equal(t, 7, n)
	_, err = read.Exec(t.Context(), "INSERT INTO t VALUES (8)")
	require.ErrorContains(t, err, "read-only transaction")

	_, err = Start(t.Context(), Options{ReplicaOf: &Server{URL: primary.URL}})
	require.ErrorContains(t, err, "of a private server alone")
}
