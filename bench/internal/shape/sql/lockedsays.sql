UNION ALL
SELECT CASE WHEN k.order_id = l.order_id AND k.fingerprint = a.fingerprint THEN 'Replayed'
            WHEN k.order_id IS NOT NULL THEN 'Mismatched'
            WHEN l.moves AND l.version <> $4::bigint THEN 'Stale'
            ELSE 'Replayed' END, -- the fact was there, though known did not see it
       COALESCE(k.outcome, ''), COALESCE(k.from_status, ''), COALESCE(k.to_status, ''), COALESCE(k.version, 0),
       l.order_id, l.status, l.version, l.deadline_at, l.deadline_runs, l.customer_id, l.sku, l.quantity, l.total_cents,
       l.paid_cents, l.refund_cents, l.refunded_cents, l.payment_no, l.paid_at
FROM locked AS l CROSS JOIN arg AS a LEFT JOIN known AS k ON true
WHERE NOT EXISTS (SELECT 1 FROM fact)
