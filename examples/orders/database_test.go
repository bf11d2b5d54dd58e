package main

import (
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) {
	if spec, child := os.LookupEnv(childFault); child {
		os.Exit(serveUntilFault(spec))
	}
	testdb.Leakless(m)
}

func TestTwoProcessesMayOpenAnEmptyDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t)
	var (
		pools [2]*pgxpool.Pool
		stops [2]func()
		errs  [2]error
		work  sync.WaitGroup
	)
	for i := range pools {
		work.Go(func() {
			pools[i], stops[i], errs[i] = openDatabase(t.Context(), databaseOptions{URL: url, MaxConns: 3})
		})
	}
	work.Wait()
	for i := range pools {
		require.NoError(t, errs[i])
		defer stops[i]()
		var cases int
		var wait string
		require.NoError(t, pools[i].QueryRow(t.Context(), "SELECT count(*) FROM shop_cases").Scan(&cases))
		require.Zero(t, cases)
		require.NoError(t, pools[i].QueryRow(t.Context(), "SHOW lock_timeout").Scan(&wait))
		require.Equal(t, "5s", wait)
		require.Equal(t, int32(3), pools[i].Config().MaxConns)
	}
}

func TestDatabaseThatDoesNotAnswerIsAnError(t *testing.T) {
	t.Parallel()
	_, stop, err := openDatabase(t.Context(), databaseOptions{URL: "postgres://127.0.0.1:1/none"})
	require.Error(t, err)
	require.Nil(t, stop)
}
