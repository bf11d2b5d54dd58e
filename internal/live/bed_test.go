package live

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"os"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

// crowd makes SIZE orders over the last SPAN, set-wise and as their calls would have
// left them: of a hundred, 80 are delivered in the end, 12 expire, 5 go back, 3 fail to
// pay once; of 10,000 one stays PAYING and one PAID. Every 200th was paid twice, which
// was compensated. Callbacks of the last week are in the inbox, every third told twice.
const crowd = `
SET synchronous_commit = off;
ALTER TABLE orders DISABLE TRIGGER USER;
CREATE TEMPORARY TABLE step AS SELECT s.*, lead(s.after) OVER (PARTITION BY path ORDER BY n) AS until FROM (VALUES
  ('done', 1, 'create', NULL, 'PENDING', interval '0'), ('done', 2, 'pay', 'PENDING', 'PAYING', '2 minutes'), ('done', 3, 'payment_succeeded', 'PAYING', 'PAID', '4 minutes'),
  ('done', 4, 'ship', 'PAID', 'SHIPPED', '1 hour'), ('done', 5, 'receive', 'SHIPPED', 'COMPLETED', '3 days'),
  ('gone', 1, 'create', NULL, 'PENDING', '0'), ('gone', 2, 'expire', 'PENDING', 'CANCELLED', '30 minutes'),
  ('back', 1, 'create', NULL, 'PENDING', '0'), ('back', 2, 'pay', 'PENDING', 'PAYING', '1 minute'), ('back', 3, 'payment_succeeded', 'PAYING', 'PAID', '3 minutes'),
  ('back', 4, 'refund', 'PAID', 'REFUNDING', '1 day'), ('back', 5, 'refund_succeeded', 'REFUNDING', 'REFUNDED', '26 hours'),
  ('fail', 1, 'create', NULL, 'PENDING', '0'), ('fail', 2, 'pay', 'PENDING', 'PAYING', '1 minute'), ('fail', 3, 'payment_failed', 'PAYING', 'PENDING', '2 minutes'),
  ('fail', 4, 'pay', 'PENDING', 'PAYING', '3 minutes'), ('fail', 5, 'payment_succeeded', 'PAYING', 'PAID', '5 minutes'), ('fail', 6, 'ship', 'PAID', 'SHIPPED', '2 hours'), ('fail', 7, 'receive', 'SHIPPED', 'COMPLETED', '4 days'),
  ('open', 1, 'create', NULL, 'PENDING', '0'), ('open', 2, 'pay', 'PENDING', 'PAYING', '1 minute'),
  ('kept', 1, 'create', NULL, 'PENDING', '0'), ('kept', 2, 'pay', 'PENDING', 'PAYING', '2 minutes'), ('kept', 3, 'payment_succeeded', 'PAYING', 'PAID', '4 minutes')
) AS s(path, n, event, was, becomes, after);
CREATE TEMPORARY TABLE made AS SELECT i, md5(i::text)::uuid AS id, now() - interval 'SPAN' * (1 - i::float8 / SIZE) AS at,
  CASE WHEN i % 10000 = 98 THEN 'open' WHEN i % 10000 = 99 THEN 'kept' WHEN i % 100 < 80 THEN 'done' WHEN i % 100 < 92 THEN 'gone' WHEN i % 100 < 97 THEN 'back' ELSE 'fail' END AS path
FROM generate_series(1, SIZE) AS i;
INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents, paid_cents, payment_no)
SELECT m.id, s.becomes, s.n, CASE s.becomes WHEN 'PENDING' THEN m.at + s.after + interval '30 minutes' WHEN 'PAYING' THEN m.at + s.after + interval '15 minutes'
    WHEN 'SHIPPED' THEN m.at + s.after + interval '10 days' WHEN 'REFUNDING' THEN m.at + s.after + interval '1 day' END,
  'c' || m.i % 1000, 'tea', 1, 1000 + m.i % 9000, CASE WHEN s.n >= 3 AND s.becomes <> 'PENDING' THEN 1000 + m.i % 9000 ELSE 0 END, CASE WHEN s.n >= 3 AND s.becomes <> 'PENDING' THEN 'p' || m.i END
FROM made AS m JOIN step AS s USING (path) WHERE m.at + s.after <= now() AND (s.until IS NULL OR m.at + s.until > now()) ORDER BY m.i;
INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, request_id, at)
SELECT m.id, s.n, s.event, s.was, s.becomes, CASE WHEN s.event IN ('pay', 'create') THEN 'c' || m.i % 1000 ELSE '' END, 'r' || m.i || '-' || s.n, m.at + s.after
FROM made AS m JOIN step AS s USING (path) WHERE m.at + s.after <= now() ORDER BY m.at + s.after;
CREATE TEMPORARY TABLE told AS SELECT s.event, m.id, m.i, s.n, s.was, s.becomes, m.at + s.after AS at, 'Applied' AS outcome,
  CASE s.event WHEN 'payment_succeeded' THEN 'p' WHEN 'payment_failed' THEN 'f' ELSE 'r' END || m.i AS identity
FROM made AS m JOIN step AS s USING (path) WHERE s.event IN ('payment_succeeded', 'payment_failed', 'refund', 'refund_succeeded') AND m.at + s.after <= now()
UNION ALL SELECT 'payment_succeeded', m.id, m.i, 3, 'PAID', 'PAID', m.at + interval '10 minutes', 'Compensated', 'q' || m.i FROM made AS m WHERE m.i % 200 = 7 AND m.at + interval '10 minutes' <= now();
INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
SELECT t.event, t.identity, t.id, (1000 + t.i % 9000)::text, t.outcome, t.was, t.becomes, t.n, t.at FROM told AS t ORDER BY t.at;
INSERT INTO fsm_outbox_sent (id, machine, key, version, event, topic, payload, at, sent_at)
SELECT row_number() OVER (ORDER BY t.at), 'order', t.id::text, t.n, t.event, CASE t.outcome WHEN 'Applied' THEN 'order_paid' ELSE 'refund_due' END, '{}', t.at, t.at + interval '200 milliseconds'
FROM told AS t WHERE t.event = 'payment_succeeded' AND t.at > now() - interval '7 days' ORDER BY t.at;
INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
SELECT 'order', m.id::text, 1, 'create', 'order_created', '{}', m.at FROM made AS m ORDER BY m.i DESC LIMIT 200;
CREATE TEMPORARY TABLE heard AS SELECT row_number() OVER (ORDER BY t.at) AS id, t.event, t.i, t.at, t.outcome, t.identity FROM told AS t WHERE t.event <> 'refund' AND t.at > now() - interval '7 days';
INSERT INTO fsm_deliveries (provider, message_id, received_at, digest, events, verdicts, recorded_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'm' || d.id, d.at, '', ARRAY[d.id], '{done}', d.at FROM heard AS d ORDER BY d.id;
INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, outcome, gives_up_at, received_at, ended_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'ev_' || d.identity || d.event, d.event, d.identity, d.event, '', d.id, 'done', d.outcome, d.at, d.at, d.at FROM heard AS d ORDER BY d.id;
INSERT INTO fsm_deliveries (provider, message_id, received_at, digest, events, verdicts, recorded_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'm' || d.id || 'b', least(now(), d.at + interval '30 seconds'), '', ARRAY[d.id], '{duplicate}', d.at FROM heard AS d WHERE d.id % 3 = 1 ORDER BY d.id;
ALTER TABLE orders ENABLE TRIGGER USER;
DROP TABLE step, made, told, heard;`

// bed is a database with the repository's migrations.
type bed struct {
	t    testing.TB
	pool *pgxpool.Pool
	url  string
}

func newBed(t testing.TB) bed {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	return bed{t, pool, pool.Config().ConnString()}
}

func (b bed) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err, sql)
}

// fill fills it with orders, and has statistics made of them.
func (b bed) fill(size int, span string) {
	b.t.Helper()
	b.exec(strings.NewReplacer("SIZE", strconv.Itoa(size), "SPAN", span).Replace(crowd))
	b.exec("VACUUM (ANALYZE) orders, order_history, order_facts, fsm_outbox, fsm_outbox_sent, fsm_inbox, fsm_deliveries")
}

func (b bed) open() *Database {
	b.t.Helper()
	db, err := Open(b.url)
	require.NoError(b.t, err)
	b.t.Cleanup(db.Close)
	return db
}

func (b bed) count(sql string, args ...any) (n int64) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

// machines are those of the repository.
func machines(t testing.TB) []*model.Machine {
	t.Helper()
	var problems diag.List
	all, err := pipeline.Lint(t.Context(), os.DirFS("../.."), []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// define is the machine of a definition.
func define(t testing.TB, yaml string) *model.Machine {
	t.Helper()
	var problems diag.List
	all, err := pipeline.Lint(context.Background(), fstest.MapFS{"definitions/m.yaml": {Data: []byte(yaml)}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.Len(t, all, 1, problems.Sorted())
	return all[0]
}

func named(t testing.TB, all []*model.Machine, name string) *model.Machine {
	t.Helper()
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no machine", name)
	return nil
}
