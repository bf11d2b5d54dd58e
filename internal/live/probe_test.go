package live

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// scans are what no plan of a probe may have: a table that is large in use, read whole.
var scans = regexp.MustCompile(`Seq Scan on (orders|order_history|order_facts|fsm_inbox|fsm_deliveries|fsm_outbox|fsm_outbox_sent|fsm_command|fsm_attempts|fsm_attempt_keys|fsm_dead_letters|fsm_token)\b`)

// removed is how many rows were read that were none of those looked for: a walk along a whole
// index is no better than a scan.
var removed = regexp.MustCompile(`Rows Removed by (?:Filter|Index Recheck): ([0-9]+)`)

// Whatever looks for one row, and all that is read of queues, goes by indexes; the last
// moves by the last pages. Counts and what is oldest read the table: those alone.
func TestNoProbeScansATable(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.fill(20_000, "20 days")
	db, record := b.recording()
	all := machines(t)
	m := named(t, all, "order")
	ctx := t.Context()
	key := "c4ca4238-a0b9-2382-0dcc-509a6f75849b" // md5 of 1

	life, err := db.Life(ctx, m, []string{key})
	require.NoError(t, err)
	require.True(t, life.There)
	late, err := db.Life(ctx, m, []string{"64a59eb3-4a8f-d3d7-9ac9-a9dea4a7a0b9"})
	require.NoError(t, err)
	require.False(t, late.There)
	for _, text := range []string{key, "p19007", "q19007", "ev_p19003payment_succeeded", "nothing"} {
		_, errs := db.Find(ctx, all, text)
		require.Empty(t, errs)
	}
	for _, read := range []func() error{
		func() error { _, err := db.Deadlines(ctx, m); return err },
		func() error { _, err := db.Deliveries(ctx); return err },
		func() error { lags, err := db.Lags(ctx, all); require.Empty(t, lags.Failed); return err },
		func() error { _, err := db.Moves(ctx, m); return err },
	} {
		require.NoError(t, read())
	}

	conn, err := pgx.Connect(ctx, b.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0") // as probes have it
	require.NoError(t, err)
	looked := 0
	for _, q := range record.taken() {
		if !strings.HasPrefix(strings.TrimLeft(q.sql, "("), "SELECT") {
			continue
		}
		rows, err := conn.Query(ctx, "EXPLAIN (ANALYZE) "+q.sql, append([]any{pgx.QueryExecModeExec}, q.args...)...)
		require.NoError(t, err, q.sql)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, q.sql)
		require.NotRegexp(t, scans, strings.Join(plan, "\n"), q.sql)
		for _, n := range removed.FindAllStringSubmatch(strings.Join(plan, "\n"), -1) {
			rows, err := strconv.Atoi(n[1])
			require.NoError(t, err)
			if !strings.Contains(q.sql, "h.ctid") { // the last pages are read whole
				require.LessOrEqual(t, rows, 2*sentRows, "%s\n%s", q.sql, strings.Join(plan, "\n"))
			}
		}
		looked++
	}
	require.Greater(t, looked, 100)
	require.Regexp(t, scans, "  ->  Seq Scan on orders t  (cost=0.00..1.0 rows=1 width=1)")
}

// What is found among many is what was put there.
func TestAmongMany(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.fill(20_000, "20 days")
	db, m := b.open(), named(t, machines(t), "order")

	counts, err := db.Count(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 20_000, counts.Total)
	for _, s := range counts.States {
		require.Equal(t, b.count("SELECT count(*) FROM orders WHERE status = $1", s.State), s.Rows, s.State)
	}
	l := lifecycle{m}
	require.NoError(t, db.read(t.Context(), Quick, "", func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(t.Context(), tx, "orders")
		require.NoError(t, err)
		size, err := extentOf(t.Context(), tx, found["orders"])
		require.NoError(t, err)
		guess, err := l.estimate(t.Context(), tx, found["orders"], size)
		require.NoError(t, err)
		require.False(t, guess.Exact)
		require.InEpsilon(t, 20_000, guess.Total, 0.05)
		require.InEpsilon(t, counts.Of("COMPLETED"), guess.Of("COMPLETED"), 0.1)
		return nil
	}))

	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	var n int64
	for _, v := range moves.Moves {
		n += v.N
	}
	require.InDelta(t, b.count("SELECT count(*) FROM order_history WHERE at > now() - interval '1 hour'"), n, 3)
	require.Greater(t, n, int64(50))

	oldest, err := db.Oldest(t.Context(), m, counts)
	require.NoError(t, err)
	states := map[string]Oldest{}
	for _, o := range oldest {
		if _, younger := states[o.State]; !younger {
			states[o.State] = o
		}
	}
	require.NotContains(t, states, "COMPLETED", "rows may rest there")
	var key string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT o.order_id::text FROM orders AS o JOIN order_history AS h USING (order_id, version) WHERE o.status = 'PAID' ORDER BY h.at LIMIT 1`).Scan(&key))
	require.Equal(t, []string{key}, states["PAID"].Key)
	require.Equal(t, counts.Of("PAID"), states["PAID"].Of)
	require.True(t, states["PAID"].Whole)
	require.False(t, states["SHIPPED"].Whole, "there are thousands")
	require.NotZero(t, states["SHIPPED"].For)

	due, err := db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, b.count("SELECT count(*) FROM orders WHERE deadline_at < now()"), due.Overdue)
	require.NotEmpty(t, due.Late)
	require.NotEmpty(t, due.Next)

	told, err := db.Deliveries(t.Context())
	require.NoError(t, err)
	require.True(t, told.There)
	var twice int64
	for _, v := range told.Verdicts {
		if v.Verdict == "duplicate" {
			twice += v.N
		}
	}
	require.InDelta(t, b.count("SELECT count(*) FROM fsm_deliveries WHERE verdicts = '{duplicate}' AND received_at > now() - interval '1 hour'"), twice, 2)
	require.NotEmpty(t, told.Latest)
	for _, d := range told.Latest {
		require.Equal(t, "duplicate", d.Verdict)
		require.NotEmpty(t, d.Event.Object)
	}
}

// Without the time to read more, the last pages say how far back they go.
func TestMovesOfABusyHour(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.exec(`INSERT INTO order_history (order_id, version, event, to_status, at)
SELECT md5(i::text)::uuid, 1, 'create', 'PENDING', now() - interval '59 minutes' * (1 - i::float8 / 200000) FROM generate_series(1, 200000) AS i`)
	moves, err := b.open().Moves(t.Context(), named(t, machines(t), "order"))
	require.NoError(t, err)
	require.Less(t, moves.Back, 59*time.Minute)
	require.Greater(t, moves.Back, 5*time.Minute)
	var within int64
	for _, v := range moves.Moves {
		within += v.N
	}
	require.InEpsilon(t, b.count("SELECT count(*) FROM order_history WHERE at > now() - $1 * interval '1 second'", moves.Back.Seconds()), within, 0.05)
	require.InEpsilon(t, float64(b.count("SELECT count(*) FROM order_history WHERE at > now() - interval '5 minutes'"))/5, moves.PerMinute("", "PENDING", "create"), 0.1)

	// Somebody's own index on the time reads all of the hour.
	b.exec("CREATE INDEX own ON order_history USING brin (at)")
	moves, err = b.open().Moves(t.Context(), named(t, machines(t), "order"))
	require.NoError(t, err)
	require.True(t, moves.Indexed)
	require.Equal(t, Window, moves.Back)
}

// Entries in pages that deleted ones had freed are not seen, and that is said.
func TestMovesInFreedPages(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	db, m := b.open(), named(t, machines(t), "order")
	b.exec(`INSERT INTO order_history (order_id, version, event, to_status, at) SELECT md5(i::text)::uuid, 1, 'create', 'PENDING', now() - interval '2 days' FROM generate_series(1, 40000) AS i`)
	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	require.False(t, moves.Freed)
	b.exec(`DELETE FROM order_history WHERE ctid < '(50,0)'`)
	b.exec(`VACUUM order_history`)
	b.exec(`INSERT INTO order_history (order_id, version, event, to_status, at) SELECT md5('x' || i)::uuid, 1, 'create', 'PENDING', now() FROM generate_series(1, 100) AS i`)
	require.Eventually(t, func() bool { // statistics are the server's to tell, a moment later
		moves, err = db.Moves(t.Context(), m)
		return err == nil && moves.Freed
	}, soon, 10*time.Millisecond)
	require.Empty(t, moves.Moves, "they went into the first pages")
}
