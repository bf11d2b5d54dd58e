package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestParseDemo(t *testing.T) {
	t.Parallel()
	o, err := parseDemo(nil, io.Discard)
	require.NoError(t, err)
	require.NotZero(t, o.seed)
	o.seed = 0
	require.Equal(t, demoOptions{orders: 2000, workers: 32}, o)

	o, err = parseDemo([]string{"-orders", "60", "-seed", "7", "-workers", "4", "-skip-naive", "-json", "out.json"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, demoOptions{orders: 60, seed: 7, workers: 4, skipNaive: true, json: "out.json"}, o)

	for _, args := range [][]string{{"-orders", "0"}, {"-orders", "1000001"}, {"-workers", "0"}, {"-workers", "1025"}, {"-seed", "-1"}, {"-what"}, {"more"}} {
		_, err := parseDemo(args, io.Discard)
		require.Error(t, err, args)
		require.Equal(t, 2, demo(t.Context(), args))
	}
	require.Equal(t, 0, demo(t.Context(), []string{"-h"}))
}

func TestDemoLogEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	log := demoLog(ctx, &out)
	log.Warn("forged")
	require.Empty(t, out.String())
	log.Error("broken")
	require.Contains(t, out.String(), "msg=broken")
	before := out.String()
	cancel()
	log.Error("broken off")
	require.Equal(t, before, out.String())
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for _, server := range []string{
		"postgres://ann:secret@db.example:5433/shop?sslmode=disable",
		"postgresql://ann:secret@db.example:5433?dbname=shop&sslmode=disable",
		"host=db.example port=5433 user=ann password=secret dbname=shop sslmode=disable",
		"postgres://ann:secret@db.example:5433/shop?options=-c%20geqo%3Doff",
	} {
		its, err := withDatabase(server, "pawl_demo_1")
		require.NoError(t, err)
		config, err := pgx.ParseConfig(its)
		require.NoError(t, err)
		require.Equal(t, []any{"db.example", uint16(5433), "ann", "secret", "pawl_demo_1"},
			[]any{config.Host, config.Port, config.User, config.Password, config.Database})
		if options := config.RuntimeParams["options"]; strings.Contains(server, "options") {
			require.Equal(t, "-c geqo=off", options)
		}
	}
	_, err := withDatabase("postgres://ann:secret@db example/", "x")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestDemoLeavesNothingOnAServerOfOthers(t *testing.T) {
	t.Parallel()
	server := testdb.URL(t)
	pool, stop, err := openDemoDatabase(t.Context(), server)
	require.NoError(t, err)
	var name, orders string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_database(), to_regclass('orders')::text").Scan(&name, &orders))
	require.Equal(t, "orders", orders)
	stop()

	conn, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	require.NotEqual(t, conn.Config().Database, name)
	var there bool
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there))
	require.False(t, there)
}
