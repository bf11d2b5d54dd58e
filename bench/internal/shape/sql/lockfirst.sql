-- Lock first, judge later: every delivery takes the row lock, a duplicate too, and
-- what is known of the payment is read before the lock.
WITH arg AS MATERIALIZED (
  SELECT $1::text AS payment_no, $2::bigint AS paid_cents, ($2::bigint)::text AS fingerprint, COALESCE($5::timestamptz, now()) AS at
), known AS MATERIALIZED (
  SELECT f.order_id, f.fingerprint, f.outcome, f.from_status, f.to_status, f.version
  FROM order_facts AS f WHERE f.event = 'payment_succeeded' AND f.identity = $1::text
), held AS MATERIALIZED (
  SELECT o.* FROM orders AS o WHERE o.order_id = $3::uuid FOR NO KEY UPDATE OF o
), locked AS MATERIALIZED (
  SELECT h.*,
         CASE WHEN h.status IN ('PENDING', 'PAYING') AND (h.total_cents = $2::bigint) IS TRUE THEN 'PAID'
              WHEN h.status = 'CANCELLED' THEN 'REFUNDING'
              ELSE h.status END AS next_status,
         (h.status IN ('PENDING', 'PAYING') AND (h.total_cents = $2::bigint) IS TRUE OR h.status = 'CANCELLED') AS moves
  FROM held AS h
), fact AS (
  INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
  SELECT 'payment_succeeded', a.payment_no, l.order_id, a.fingerprint, CASE WHEN l.moves THEN 'Applied' ELSE 'Compensated' END,
         l.status, l.next_status, l.version + l.moves::int, a.at
  FROM locked AS l CROSS JOIN arg AS a
  WHERE NOT EXISTS (SELECT 1 FROM known) AND (NOT l.moves OR l.version = COALESCE($4::bigint, l.version))
  ON CONFLICT ON CONSTRAINT order_facts_pkey DO NOTHING
  RETURNING order_id, outcome, from_status, to_status, version
), moved AS (
  UPDATE orders AS o
  SET status = l.next_status, version = o.version + 1, deadline_runs = 0,
      deadline_at = CASE WHEN l.next_status = 'REFUNDING' THEN a.at + interval '24 hours' END,
      paid_cents = a.paid_cents, refund_cents = CASE WHEN l.next_status = 'REFUNDING' THEN a.paid_cents ELSE o.refund_cents END,
      payment_no = a.payment_no, paid_at = a.at
  FROM locked AS l JOIN fact AS f ON f.order_id = l.order_id CROSS JOIN arg AS a
  WHERE o.order_id = l.order_id AND l.moves
  RETURNING o.*
), history AS (
  INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, reason, request_id, at)
  SELECT f.order_id, m.version, 'payment_succeeded', f.from_status, m.status, $6::text, $7::text, $8::text, a.at
  FROM fact AS f CROSS JOIN arg AS a LEFT JOIN moved AS m ON m.order_id = f.order_id
  WHERE f.outcome = 'Applied'
), emitted AS (
  INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
  SELECT 'order', f.order_id::text, f.version, 'payment_succeeded',
         CASE WHEN f.outcome = 'Applied' AND f.to_status = 'PAID' THEN 'order_paid' ELSE 'refund_due' END,
         jsonb_build_object('machine', 'order', 'key', f.order_id::text, 'version', f.version, 'event', 'payment_succeeded',
                            'from', f.from_status, 'to', f.to_status, 'params', jsonb_build_object('payment_no', a.payment_no, 'paid_cents', a.paid_cents),
                            'identity', a.payment_no), a.at
  FROM fact AS f CROSS JOIN arg AS a
)
