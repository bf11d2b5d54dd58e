package audit_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/audit"
)

// crowd makes the orders set-wise, as their calls would have left them: of ten,
// seven PENDING, two PAYING, and one PAID. Keys come in order, and indexes after
// the rows, since that is what takes the time.
const crowd = `
ALTER TABLE orders DISABLE TRIGGER USER;
ALTER TABLE orders DROP CONSTRAINT orders_pkey;
ALTER TABLE order_history DROP CONSTRAINT order_history_pkey;
DROP INDEX orders_deadline_idx;
INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents, paid_cents, payment_no)
SELECT lpad(to_hex(i), 32, '0')::uuid, k.status, k.version, now() + k.due, 'c', 'tea', 1, 100, CASE WHEN k.version = 3 THEN 100 ELSE 0 END,
       CASE WHEN k.version = 3 THEN 'p' || i END
FROM generate_series(1, 1000000) AS i JOIN (VALUES ('PENDING', 1, interval '30 minutes'), ('PAYING', 2, interval '15 minutes'), ('PAID', 3, NULL)) AS k(status, version, due)
  ON k.version = CASE WHEN i % 10 < 7 THEN 1 WHEN i % 10 < 9 THEN 2 ELSE 3 END;
INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
SELECT o.order_id, e.version, e.event, e.from_status, e.to_status, now()
FROM orders AS o JOIN (VALUES (1, 'create', NULL, 'PENDING'), (2, 'pay', 'PENDING', 'PAYING'), (3, 'payment_succeeded', 'PAYING', 'PAID')) AS e(version, event, from_status, to_status)
  ON e.version <= o.version;
INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
SELECT 'payment_succeeded', o.payment_no, o.order_id, '100', 'Applied', 'PAYING', 'PAID', 3, now() FROM orders AS o WHERE o.version = 3;
ALTER TABLE orders ADD CONSTRAINT orders_pkey PRIMARY KEY (order_id);
ALTER TABLE order_history ADD CONSTRAINT order_history_pkey PRIMARY KEY (order_id, version);
ALTER TABLE orders ENABLE TRIGGER USER;
ANALYZE orders, order_history, order_facts;`

// scattered is damage among the orders: the last digit of a number says what its order is.
var scattered = []struct {
	order   int
	version int64
	kind    audit.Kind
	sql     string
}{
	{1, 1, audit.NoHistory, `DELETE FROM order_history WHERE order_id = %s`},
	{123_452, 1, audit.Overdue, `UPDATE orders SET deadline_at = now() - interval '1 day' WHERE order_id = %s`},
	{234_563, 1, audit.DeadlineMissing, `UPDATE orders SET deadline_at = NULL WHERE order_id = %s`},
	{345_674, 5, audit.HistoryMismatch, `UPDATE orders SET version = 5 WHERE order_id = %s`},
	{456_785, 2, audit.IllegalEdge, `UPDATE orders SET status = 'REFUNDED', version = 2, deadline_at = NULL WHERE order_id = %s;
		INSERT INTO order_history (order_id, version, event, from_status, to_status, at) VALUES (%[1]s, 2, 'refund', 'PENDING', 'REFUNDED', now())`},
	{500_007, 2, audit.WrongEvent, `UPDATE order_history SET event = 'ship' WHERE order_id = %s AND version = 2`},
	{567_898, 2, audit.BrokenChain, `UPDATE order_history SET from_status = 'PAYING' WHERE order_id = %s AND version = 2`},
	{600_009, 3, audit.VersionGap, `DELETE FROM order_history WHERE order_id = %s AND version = 2`},
	{700_009, 3, audit.FactMissing, `DELETE FROM order_facts WHERE order_id = %s`},
	{800_009, 3, audit.FactMismatch, `UPDATE order_facts SET to_status = 'REFUNDING' WHERE order_id = %s`},
	{900_009, 3, audit.StrayDeadline, `UPDATE orders SET deadline_at = now() WHERE order_id = %s`},
	{950_007, 2, audit.BadBeginning, `DELETE FROM order_history WHERE order_id = %s AND version = 1`},
	{999_999, 0, audit.OrphanHistory, `DELETE FROM orders WHERE order_id = %s; DELETE FROM order_facts WHERE order_id = %[1]s`},
}

// uuid is the key of an order by its number.
func uuid(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012x", n) }

// Every damage among a million rows is found, nothing is found without, and the
// memory of the audit is not that of the rows: they have a hundred megabytes
// and more.
func TestAMillionRows(t *testing.T) { // alone, since it looks at the heap
	if testing.Short() {
		t.Skip("a million rows take their time to make")
	}
	d := migrated(t)
	machines := definitions(t)
	d.exec(crowd)
	d.exec("CREATE INDEX orders_deadline_idx ON orders (deadline_at) WHERE deadline_at IS NOT NULL")

	var found []audit.Finding
	var base, peak uint64
	measure := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	o := audit.Options{
		Overdue: time.Hour, OutboxAge: time.Hour, Limit: 100, Progress: io.Discard,
		Found: func(f audit.Finding) error { found = append(found, f); return nil },
		Clock: func() time.Time { peak = max(peak, measure()); return time.Time{} }, // asked all the while
	}
	run := func(entries, facts int64) {
		t.Helper()
		runtime.GC()
		base, peak = measure(), 0
		report, err := audit.Run(t.Context(), d.url, machines, o)
		require.NoError(t, err)
		require.Equal(t, entries, report.Read[0].Entries)
		require.Equal(t, facts, report.Read[0].Facts)
		require.NotZero(t, peak)
		require.Less(t, int64(peak)-int64(base), int64(32<<20))
	}
	run(1_400_000, 100_000)
	require.Empty(t, found)

	var damage string
	var want []audit.Finding
	for _, s := range scattered {
		key := uuid(s.order)
		damage += fmt.Sprintf(s.sql, "'"+key+"'") + ";"
		want = append(want, audit.Finding{Kind: s.kind, Machine: "order", Key: key, Version: s.version})
	}
	d.plant(damage)
	run(1_400_000-1+1-1-1, 100_000-2)
	for i := range found {
		require.NotEmpty(t, found[i].Text)
		found[i].Text = ""
	}
	require.Equal(t, want, found)
}
