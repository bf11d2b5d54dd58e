package cli_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// TestAuditUsage sets the environment, so nothing runs beside it.
func TestAuditUsage(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	dir := project(t, "definitions/lamp.yaml", lamp)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "environment variable DATABASE_URL"},
		{nil, 2, "no database: give --database URL, or set DATABASE_URL"},
		{[]string{"--database", "postgres://x", "--format", "sarif"}, 2, `no format "sarif": choose text or json`},
		{[]string{"--database", "postgres://x", "--overdue", "-1s"}, 2, "it is no duration; write it as 30m, 24h or 1d12h"},
		{[]string{"--database", "postgres://x", "--limit", "-1"}, 2, "cannot be negative"},
		{[]string{"--database", "postgres://x", "/etc"}, 2, "below the project's root"},
		{[]string{"--database", "postgres://x", "nowhere.yaml"}, 2, "nowhere.yaml"},
		{[]string{"--database", "postgres://x", "--overdue", "1d12h", "--outbox-age=0"}, 0, "nothing found"}, // the lamp has no table, so nobody is asked
	} {
		code, out, err := run(append([]string{"audit", "-C", dir}, c.args...)...)
		require.Equal(t, c.code, code, "%q: %s", c.args, out+err)
		require.Contains(t, out+err, c.says, "%q", c.args)
	}
	code, _, text := run("audit", "-C", project(t, "definitions/lamp.yaml", broken), "--database", "postgres://x")
	require.Equal(t, 2, code)
	require.Contains(t, text, "FSM012")
	require.Contains(t, text, "nothing to audit against")

	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/none")
	code, _, text = run("audit", "-C", "../..")
	require.Equal(t, 2, code)
	require.Contains(t, text, "cannot connect to the database")
}

func TestAuditExitsWithFindings(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	code, out, text := run("audit", "-C", "../..", "--database", url, "--progress")
	require.Equal(t, 0, code, out+text)
	require.Empty(t, out)
	require.Contains(t, text, "order: 0 of")
	require.Contains(t, text, "refund: 0 rows, 0 history entries, 0 facts read\nnothing found\n")

	_, err = conn.Exec(t.Context(), `INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents)
		SELECT ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'PENDING', 1, now(), 'c', 'tea', 1, 1 FROM generate_series(1, 3) AS i;
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at) VALUES ('parcel', '1', 1, 'e', 't', '{}', now())`)
	require.NoError(t, err)
	code, out, text = run("audit", "definitions/order.yaml", "-C", "../..", "--database", url, "--limit", "1") // the parcel is none of its business
	require.Equal(t, 1, code)
	require.Equal(t, "order 00000000-0000-4000-8000-000000000001 version 1: no-history: the row has no history\n", out)
	require.Contains(t, text, "order: 3 rows, 0 history entries, 0 facts read\n        3 no-history\n")
	require.NotContains(t, text, "order: 0 of")

	code, out, text = run("audit", "-C", "../..", "--database", url, "--format", "json", "--limit", "0")
	require.Equal(t, 1, code)
	require.NotContains(t, text, "fsmgen:")
	var doc struct {
		Findings []any
		Counts   []map[string]any
		Complete bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	require.Empty(t, doc.Findings)
	require.Equal(t, []map[string]any{{"kind": "no-history", "count": 3.0}, {"kind": "outbox-unknown", "count": 1.0}}, doc.Counts)
	require.True(t, doc.Complete)
	require.NoError(t, conn.Close(context.Background()))
}
