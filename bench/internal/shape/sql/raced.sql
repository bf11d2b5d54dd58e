UNION ALL
SELECT CASE WHEN k.order_id = o.order_id AND k.fingerprint = a.fingerprint THEN 'Replayed'
            WHEN k.order_id IS NOT NULL THEN 'Mismatched'
            WHEN o.version <> $4::bigint AND (o.status = 'CANCELLED' OR o.status IN ('PENDING', 'PAYING') AND o.total_cents = a.paid_cents) THEN 'Stale'
            ELSE 'raced' END,
       COALESCE(k.outcome, ''), COALESCE(k.from_status, ''), COALESCE(k.to_status, ''), COALESCE(k.version, 0),
       o.order_id, o.status, o.version, o.deadline_at, o.deadline_runs, o.customer_id, o.sku, o.quantity, o.total_cents,
       o.paid_cents, o.refund_cents, o.refunded_cents, o.payment_no, o.paid_at
FROM orders AS o CROSS JOIN arg AS a LEFT JOIN known AS k ON true
WHERE o.order_id = $3::uuid AND NOT EXISTS (SELECT 1 FROM fact)
