SELECT 'Applied' AS outcome, f.outcome AS first_outcome, f.from_status AS first_from, f.to_status AS first_to, f.version AS first_version,
       m.order_id, m.status, m.version, m.deadline_at, m.deadline_runs, m.customer_id, m.sku, m.quantity, m.total_cents,
       m.paid_cents, m.refund_cents, m.refunded_cents, m.payment_no, m.paid_at
FROM moved AS m JOIN fact AS f ON f.order_id = m.order_id
UNION ALL
SELECT 'Compensated', f.outcome, f.from_status, f.to_status, f.version,
       l.order_id, l.status, l.version, l.deadline_at, l.deadline_runs, l.customer_id, l.sku, l.quantity, l.total_cents,
       l.paid_cents, l.refund_cents, l.refunded_cents, l.payment_no, l.paid_at
FROM fact AS f JOIN locked AS l ON l.order_id = f.order_id AND NOT l.moves
