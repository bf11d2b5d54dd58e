-- What a statement of its own says, with a snapshot of its own, when nothing was
-- written.
SELECT CASE WHEN k.order_id = o.order_id AND k.fingerprint = ($2::bigint)::text THEN 'Replayed'
            WHEN k.order_id IS NOT NULL THEN 'Mismatched'
            WHEN o.version <> $4::bigint AND (o.status = 'CANCELLED' OR o.status IN ('PENDING', 'PAYING') AND o.total_cents = $2::bigint) THEN 'Stale'
            ELSE 'raced' END AS outcome,
       COALESCE(k.outcome, '') AS first_outcome, COALESCE(k.from_status, '') AS first_from, COALESCE(k.to_status, '') AS first_to,
       COALESCE(k.version, 0) AS first_version,
       o.order_id, o.status, o.version, o.deadline_at, o.deadline_runs, o.customer_id, o.sku, o.quantity, o.total_cents,
       o.paid_cents, o.refund_cents, o.refunded_cents, o.payment_no, o.paid_at
FROM orders AS o LEFT JOIN order_facts AS k ON k.event = 'payment_succeeded' AND k.identity = $1::text
WHERE o.order_id = $3::uuid
