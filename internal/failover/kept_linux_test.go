package failover

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/cli"
)

const keptSQL = `
	WITH h AS (SELECT order_id, string_agg(format('%s:%s>%s@%s', event, from_status, to_status, version), ' ' ORDER BY version) AS text FROM order_history GROUP BY 1),
	     f AS (SELECT order_id, string_agg(format('%s %s=%s@%s', event, identity, outcome, version), ' ' ORDER BY version, event, identity) AS text FROM order_facts GROUP BY 1),
	     x AS (SELECT key, string_agg(format('%s@%s', topic, version), ' ' ORDER BY version, topic) AS text FROM fsm_outbox WHERE machine = 'order' GROUP BY 1)
	SELECT coalesce(o.order_id::text, x.key), format('%s %s %s/%s/%s', o.status, o.version, o.paid_cents, o.refund_cents, o.refunded_cents),
	       coalesce(h.text, ''), coalesce(f.text, ''), coalesce(x.text, '')
	FROM orders AS o LEFT JOIN h USING (order_id) LEFT JOIN f USING (order_id) FULL JOIN x ON x.key = o.order_id::text`

// keptBy is what a server has of all orders.
func keptBy(t testing.TB, url string) map[order.Key]kept {
	t.Helper()
	conn := connect(t, url)
	rows, err := conn.Query(t.Context(), keptSQL)
	require.NoError(t, err)
	all := map[order.Key]kept{}
	var key order.Key
	var k kept
	_, err = pgx.ForEachRow(rows, []any{&key, &k.Row, &k.History, &k.Facts, &k.Outbox}, func() error {
		all[key] = k
		return nil
	})
	require.NoError(t, err)
	return all
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// requireWhole requires that a server has each order as its life left it, whose every
// step was answered, and nothing else.
func (l *load) requireWhole(t testing.TB, url string) {
	t.Helper()
	have := keptBy(t, url)
	require.Empty(t, l.wrong)
	want := map[order.Key]kept{}
	for _, one := range l.lives {
		want[one.key] = one.want
		for i, a := range one.acks {
			require.True(t, a.answered, "%s of %s", one.steps[i].event, one.key)
			require.True(t, a.effects == 1 || a.effects == 0 && a.unknown > 0, "%s of %s: %+v", one.steps[i].event, one.key, a)
		}
	}
	for key, k := range want { // one by one: a difference of all is no text to read
		require.Equal(t, k, have[key], "order %s", key)
	}
	require.Len(t, have, len(want))
	require.NotEmpty(t, want)
}

// requireAudited has the database compared with the definitions.
func requireAudited(t testing.TB, url string) {
	t.Helper()
	var out bytes.Buffer
	code := cli.Run(t.Context(), []string{"audit", "-C", "../..", "--database", url, "--overdue", "1000000h", "--outbox-age", "1000000h"}, &out, &out)
	require.Zero(t, code, out.String())
}

// awaitReplay returns when a standby shows all that the primary has committed.
func awaitReplay(t testing.TB, primary, standby string) {
	t.Helper()
	var lsn string
	require.NoError(t, connect(t, primary).QueryRow(t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&lsn))
	conn := connect(t, standby)
	for behind := true; behind; {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() < $1::pg_lsn", lsn).Scan(&behind))
	}
}

// totals is the load in a line.
func (l *load) totals() string {
	return fmt.Sprintf("%d orders, %d answers, %d calls unknown of which %d steps were found done, %d doubtful answers of an old primary",
		len(l.lives), l.acks, l.unknown, l.resolved, l.stale)
}
