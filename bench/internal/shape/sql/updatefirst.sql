-- The usual case by an UPDATE that judges in its own WHERE and reads the former
-- state beside it. What it does not move is left to another statement.
WITH moved AS (
  UPDATE orders AS o
  SET status = 'PAID', version = o.version + 1, deadline_at = NULL, deadline_runs = 0,
      paid_cents = $2::bigint, payment_no = $1::text, paid_at = COALESCE($5::timestamptz, now())
  FROM orders AS old
  WHERE o.order_id = $3::uuid AND old.order_id = o.order_id AND o.status IN ('PENDING', 'PAYING') AND o.total_cents = $2::bigint
    AND o.version = COALESCE($4::bigint, o.version)
  RETURNING o.*, old.status AS former
), fact AS (
  INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
  SELECT 'payment_succeeded', $1::text, m.order_id, ($2::bigint)::text, 'Applied', m.former, m.status, m.version, COALESCE($5::timestamptz, now()) FROM moved AS m
), history AS (
  INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, reason, request_id, at)
  SELECT m.order_id, m.version, 'payment_succeeded', m.former, m.status, $6::text, $7::text, $8::text, COALESCE($5::timestamptz, now()) FROM moved AS m
), emitted AS (
  INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
  SELECT 'order', m.order_id::text, m.version, 'payment_succeeded', 'order_paid',
         jsonb_build_object('machine', 'order', 'key', m.order_id::text, 'version', m.version, 'event', 'payment_succeeded',
                            'from', m.former, 'to', m.status, 'params', jsonb_build_object('payment_no', $1::text, 'paid_cents', $2::bigint),
                            'identity', $1::text), COALESCE($5::timestamptz, now())
  FROM moved AS m
)
SELECT 'Applied' AS outcome, 'Applied' AS first_outcome, m.former AS first_from, m.status AS first_to, m.version AS first_version,
       m.order_id, m.status, m.version, m.deadline_at, m.deadline_runs, m.customer_id, m.sku, m.quantity, m.total_cents,
       m.paid_cents, m.refund_cents, m.refunded_cents, m.payment_no, m.paid_at
FROM moved AS m
