package storm

import (
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
)

// histories is the history of all machines.
const histories = `
	SELECT 'order' AS machine, h.order_id::text AS key, h.version, h.event, h.from_status, h.to_status FROM order_history AS h
	UNION ALL SELECT 'payment', h.payment_no, h.version, h.event, h.from_status, h.to_status FROM payment_history AS h
	UNION ALL SELECT 'refund', h.refund_no, h.version, h.event, h.from_status, h.to_status FROM refund_history AS h`

// machineRows is where the rows of all machines stand.
const machineRows = `
	SELECT 'order' AS machine, o.order_id::text AS key, o.status, o.version FROM orders AS o
	UNION ALL SELECT 'payment', p.payment_no, p.status, p.version FROM payments AS p
	UNION ALL SELECT 'refund', r.refund_no, r.status, r.version FROM refunds AS r`

// compensations is the facts of all machines that moved nothing.
const compensations = `
	SELECT 'order' AS machine, f.order_id::text AS key, f.event, f.identity, f.version FROM order_facts AS f WHERE f.outcome = 'Compensated'
	UNION ALL SELECT 'payment', f.payment_no, f.event, f.identity, f.version FROM payment_facts AS f WHERE f.outcome = 'Compensated'
	UNION ALL SELECT 'refund', f.refund_no, f.event, f.identity, f.version FROM refund_facts AS f WHERE f.outcome = 'Compensated'`

// historySQL: versions run from 1 without a gap, each entry begins where the one
// before ended, and the last is where the row stands.
const historySQL = `
	SELECT r.machine || ' ' || r.key FROM (` + machineRows + `) AS r
	LEFT JOIN (
		SELECT h.machine, h.key, count(*) AS entries, min(h.version) AS first, max(h.version) AS last,
		       count(*) FILTER (WHERE h.version <> h.nth OR h.from_status IS DISTINCT FROM h.was) AS breaks,
		       max(h.to_status) FILTER (WHERE h.nth = h.entries) AS ends
		FROM (
			SELECT h.*, row_number() OVER w AS nth, lag(h.to_status) OVER w AS was, count(*) OVER (PARTITION BY h.machine, h.key) AS entries
			FROM (` + histories + `) AS h WINDOW w AS (PARTITION BY h.machine, h.key ORDER BY h.version)
		) AS h GROUP BY h.machine, h.key
	) AS h ON h.machine = r.machine AND h.key = r.key
	WHERE h.entries IS NULL OR h.breaks > 0 OR h.last <> r.version OR h.ends <> r.status`

// emitsSQL works out from history and facts what the outbox must hold: what a
// transition emits by the definition, once however often the history has it,
// and what a compensation does.
const emitsSQL = `
	WITH expected AS (
		SELECT machine, key, version, event, topic, count(*) AS times FROM (
			SELECT h.machine, h.key, h.version, h.event, CASE
				WHEN h.machine = 'order' AND h.event = 'create' THEN 'order_created'
				WHEN h.machine = 'order' AND h.event = 'query_payment' THEN 'payment_query_due'
				WHEN h.machine = 'order' AND h.event = 'query_refund' THEN 'refund_query_due'
				WHEN h.machine = 'order' AND h.event = 'payment_succeeded' AND h.to_status = 'PAID' THEN 'order_paid'
				WHEN h.machine = 'order' AND h.event = 'payment_succeeded' THEN 'refund_due'
				WHEN h.machine = 'order' AND h.event = 'refund' THEN 'refund_due'
				WHEN h.machine = 'payment' AND h.event = 'query' THEN 'payment_query_due'
				WHEN h.machine = 'refund' AND h.event IN ('send', 'retry') THEN 'refund_send'
				WHEN h.machine = 'refund' AND h.event = 'query' THEN 'refund_query_due'
				WHEN h.machine = 'refund' AND h.event = 'stick' THEN 'refund_stuck' END AS topic
			FROM (SELECT DISTINCT * FROM (` + histories + `) AS h) AS h
			UNION ALL
			SELECT c.machine, c.key, c.version, c.event, CASE
				WHEN c.machine = 'order' AND c.event = 'payment_succeeded' THEN 'refund_due'
				WHEN c.machine = 'order' AND c.event = 'refund_failed' THEN 'refund_stuck'
				WHEN c.machine = 'payment' AND c.event = 'succeed' THEN 'payment_twice'
				WHEN c.machine = 'refund' AND c.event = 'succeed' THEN 'refund_disputed' END
			FROM (SELECT DISTINCT * FROM (` + compensations + `) AS c) AS c
		) AS e WHERE topic IS NOT NULL GROUP BY machine, key, version, event, topic
	), written AS (
		SELECT x.machine, x.key, x.version, x.event, x.topic, count(*) AS times FROM ` + outbox + ` AS x GROUP BY 1, 2, 3, 4, 5
	)
	SELECT concat_ws(' ', machine, key, version, event, topic)
	FROM expected AS e FULL JOIN written AS w USING (machine, key, version, event, topic)
	WHERE e.times IS DISTINCT FROM w.times`

// legalEdges returns machine, event, from and to of every edge, beside each
// other; the creation comes from nothing.
func legalEdges() []any {
	var e edges
	add(&e, "order", order.Initial, order.States(), order.Events(), order.Next)
	add(&e, "payment", payment.Initial, payment.States(), payment.Events(), payment.Next)
	add(&e, "refund", refund.Initial, refund.States(), refund.Events(), refund.Next)
	return []any{e.machine, e.event, e.from, e.to}
}

type edges struct{ machine, event, from, to []string }

func (e *edges) edge(machine, event, from, to string) {
	e.machine, e.event = append(e.machine, machine), append(e.event, event)
	e.from, e.to = append(e.from, from), append(e.to, to)
}

func add[S, E ~string](e *edges, machine string, initial S, states []S, events []E, next func(S, E) []S) {
	e.edge(machine, string(eventCreate), "", string(initial))
	for _, s := range states {
		for _, event := range events {
			for _, to := range next(s, event) {
				e.edge(machine, string(event), string(s), string(to))
			}
		}
	}
}
