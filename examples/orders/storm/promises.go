package storm

// promise is something that must hold whatever the storm did. Its query returns
// a row for each violation, with what is wrong in its one column. The queries
// name no schema, so that each service's tables are judged alike.
type promise struct {
	name string
	sql  string
	args func(*Script, *foreseen) []any
}

// outbox is every message, whether it waits or was delivered.
const outbox = `(
	SELECT x.machine, x.key, x.version, x.event, x.topic, x.payload FROM fsm_outbox AS x
	UNION ALL SELECT x.machine, x.key, x.version, x.event, x.topic, x.payload FROM fsm_outbox_sent AS x)`

// paidOrders is each order that was ever paid in time, as its history has it.
const paidOrders = `
	SELECT h.order_id, count(*) AS times FROM order_history AS h
	WHERE h.event = 'payment_succeeded' AND h.to_status = 'PAID' GROUP BY h.order_id`

var promises = []promise{
	{name: "paid once", sql: `
		SELECT o.order_id::text FROM orders AS o LEFT JOIN (` + paidOrders + `) AS p USING (order_id)
		WHERE p.times > 1 OR o.status IN ('PAID', 'SHIPPED', 'COMPLETED') AND p.times IS NULL`},

	{name: "stock once", sql: `
		SELECT o.order_id::text FROM orders AS o LEFT JOIN (` + paidOrders + `) AS p USING (order_id)
		LEFT JOIN (SELECT m.order_id, count(*) AS times, sum(m.quantity) AS pieces FROM shop_stock_moves AS m GROUP BY m.order_id) AS m USING (order_id)
		WHERE COALESCE(m.times, 0) <> (p.times IS NOT NULL)::int
		   OR COALESCE(m.pieces, 0) <> CASE WHEN p.times IS NULL THEN 0 ELSE -o.quantity END
		UNION ALL
		SELECT s.sku FROM unnest($1::text[], $2::bigint[]) AS b(sku, quantity) JOIN shop_stock AS s USING (sku)
		LEFT JOIN (SELECT o.sku, sum(o.quantity) AS pieces FROM orders AS o JOIN (` + paidOrders + `) AS p USING (order_id) GROUP BY o.sku) AS sold USING (sku)
		WHERE s.quantity <> b.quantity - COALESCE(sold.pieces, 0)`,
		args: func(s *Script, _ *foreseen) []any {
			var skus []string
			var quantities []int64
			for _, shelf := range s.stock {
				skus, quantities = append(skus, shelf.sku), append(quantities, shelf.quantity)
			}
			return []any{skus, quantities}
		}},

	{name: "points once", sql: `
		SELECT o.order_id::text FROM orders AS o LEFT JOIN (` + paidOrders + `) AS p USING (order_id)
		LEFT JOIN (SELECT b.order_id, count(*) AS times, sum(b.points) AS points FROM shop_points AS b GROUP BY b.order_id) AS b USING (order_id)
		WHERE COALESCE(b.times, 0) <> (p.times IS NOT NULL)::int
		   OR COALESCE(b.points, 0) <> CASE WHEN p.times IS NULL THEN 0 ELSE o.total_cents / 100 END`},

	// Its rows: each fact that is there again, and one for each that is missing
	// or too many by the oracle's count.
	{name: "each fact once", sql: `
		SELECT f.event || ' ' || f.identity FROM order_facts AS f GROUP BY f.event, f.identity HAVING count(*) > 1
		UNION ALL
		SELECT 'count' FROM generate_series(1, abs((SELECT count(*) FROM (SELECT DISTINCT event, identity FROM order_facts) AS d) - $1::bigint))`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.facts} }},

	{name: "money not kept is sent back once", sql: `
		SELECT COALESCE(d.number, r.number) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS d(key, number, amount)
		FULL JOIN (
			SELECT x.key, x.payload->>'identity' AS number, sum((x.payload->'params'->>'paid_cents')::bigint) AS amount, count(*) AS times
			FROM ` + outbox + ` AS x WHERE x.machine = 'order' AND x.topic = 'refund_due' AND x.event = 'payment_succeeded' GROUP BY 1, 2
		) AS r ON r.key = d.key AND r.number = d.number
		WHERE r.times IS NULL OR d.number IS NULL OR r.times <> 1 OR r.amount <> d.amount`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.dueOrders, f.dueNumbers, f.dueAmounts} }},

	{name: "one outbox row for each emit", sql: emitsSQL},
	{name: "history without gaps, equal to its row", sql: historySQL},

	{name: "only legal edges", sql: `
		SELECT h.machine || ' ' || h.key || ' ' || h.version FROM (` + histories + `) AS h
		WHERE NOT EXISTS (
			SELECT 1 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS e(machine, event, from_status, to_status)
			WHERE e.machine = h.machine AND e.event = h.event AND e.from_status = COALESCE(h.from_status, '') AND e.to_status = h.to_status)`,
		args: func(*Script, *foreseen) []any { return legalEdges() }},

	{name: "one payment number moves one order", sql: `
		SELECT n.number FROM unnest($1::text[]) AS n(number)
		WHERE (SELECT count(*) FROM orders AS o WHERE o.payment_no = n.number) <> 1
		   OR (SELECT count(DISTINCT f.order_id) FROM order_facts AS f WHERE f.event = 'payment_succeeded' AND f.identity = n.number) <> 1`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.reused} }},

	{name: "nothing of a forged or stale callback", sql: `
		SELECT f.identity FROM order_facts AS f WHERE f.identity = ANY ($1::text[])
		UNION ALL SELECT o.payment_no FROM orders AS o WHERE o.payment_no = ANY ($1::text[])
		UNION ALL SELECT p.payment_no FROM payments AS p WHERE p.payment_no = ANY ($1::text[])
		UNION ALL SELECT x.payload->>'identity' FROM ` + outbox + ` AS x WHERE x.payload->>'identity' = ANY ($1::text[])
		UNION ALL SELECT c.delivery_id FROM shop_cases AS c WHERE c.delivery_id = ANY ($1::text[])`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.disbelieved} }},

	{name: "each conflict is one case for a person", sql: `
		SELECT COALESCE(d.delivery, c.delivery_id) FROM unnest($1::text[]) AS d(delivery)
		FULL JOIN (SELECT c.delivery_id, count(*) AS times FROM shop_cases AS c
			WHERE c.provider IN ('standard', 'stripe') GROUP BY c.delivery_id) AS c ON c.delivery_id = d.delivery
		WHERE d.delivery IS NULL OR c.times IS NULL OR c.times <> 1`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.cases} }},

	// Of each order: what came in is what is kept and what is owed back.
	{name: "money in = money kept + money owed back", sql: `
		SELECT i.key FROM unnest($1::text[], $2::bigint[]) AS i(key, amount)
		LEFT JOIN orders AS o ON o.order_id = i.key::uuid
		LEFT JOIN (` + owedSQL + `) AS r ON r.key = i.key
		WHERE i.amount <> COALESCE(o.paid_cents - o.refund_cents, 0) + COALESCE(r.amount, 0)`,
		args: func(_ *Script, f *foreseen) []any { return []any{f.orders, f.ins} }},
}

// owedSQL is the money that the outbox says has to go back, by order.
const owedSQL = `
	SELECT x.key, sum(COALESCE(x.payload->'params'->>'paid_cents', x.payload->'params'->>'amount_cents')::bigint) AS amount
	FROM ` + outbox + ` AS x WHERE x.machine = 'order' AND x.topic = 'refund_due' GROUP BY x.key`

// moneySQL sums up what is kept and what is owed back, by its reason.
const moneySQL = `
	SELECT (SELECT COALESCE(sum(o.paid_cents - o.refund_cents), 0)::bigint FROM orders AS o),
	       COALESCE(sum(amount), 0)::bigint,
	       COALESCE(sum(amount) FILTER (WHERE event = 'payment_succeeded' AND from_status = 'CANCELLED'), 0)::bigint,
	       COALESCE(sum(amount) FILTER (WHERE event = 'payment_succeeded' AND from_status <> 'CANCELLED'), 0)::bigint,
	       COALESCE(sum(amount) FILTER (WHERE event = 'refund'), 0)::bigint
	FROM (
		SELECT x.event, x.payload->>'from' AS from_status,
		       COALESCE(x.payload->'params'->>'paid_cents', x.payload->'params'->>'amount_cents')::bigint AS amount
		FROM ` + outbox + ` AS x WHERE x.machine = 'order' AND x.topic = 'refund_due'
	) AS owed`
