package contender

// The statements that the contenders write by hand. All of them spend the same on
// the deadline, which every transition of the machine sets or clears.
const (
	// barePaid moves the row and leaves no trace.
	barePaid = `UPDATE orders SET status = 'PAID', version = version + 1, deadline_at = NULL, deadline_runs = 0,
  paid_cents = $2, payment_no = $3, paid_at = now()
WHERE order_id = $1 AND status IN ('PENDING', 'PAYING') AND total_cents = $2
RETURNING version`

	barePay = `UPDATE orders SET status = 'PAYING', version = version + 1, deadline_at = now() + interval '15 minutes', deadline_runs = 0
WHERE order_id = $1 AND status = 'PENDING'
RETURNING version`

	// handPaid writes everything at once. The row is locked before it is read, so
	// that history has the true former state.
	handPaid = `WITH old AS (
  SELECT order_id, status, version FROM orders
  WHERE order_id = $1 AND status IN ('PENDING', 'PAYING') AND total_cents = $2
  FOR NO KEY UPDATE
), moved AS (
  UPDATE orders AS o SET status = 'PAID', version = old.version + 1, deadline_at = NULL, deadline_runs = 0,
    paid_cents = $2, payment_no = $3, paid_at = now()
  FROM old WHERE o.order_id = old.order_id
  RETURNING o.order_id, o.version, old.status AS former
), fact AS (
  INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
  SELECT 'payment_succeeded', $3, order_id, $2::bigint::text, 'Applied', former, 'PAID', version, now() FROM moved
), history AS (
  INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
  SELECT order_id, version, 'payment_succeeded', former, 'PAID', now() FROM moved
), outbox AS (
  INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
  SELECT 'order', order_id::text, version, 'payment_succeeded', 'order_paid',
    jsonb_build_object('machine', 'order', 'key', order_id, 'version', version, 'event', 'payment_succeeded',
      'from', former, 'to', 'PAID', 'params', jsonb_build_object('payment_no', $3::text, 'paid_cents', $2::bigint), 'identity', $3::text), now()
  FROM moved
)
SELECT version FROM moved`

	handPay = `WITH old AS (
  SELECT order_id, status, version FROM orders WHERE order_id = $1 AND status = 'PENDING' FOR NO KEY UPDATE
), moved AS (
  UPDATE orders AS o SET status = 'PAYING', version = old.version + 1, deadline_at = now() + interval '15 minutes', deadline_runs = 0
  FROM old WHERE o.order_id = old.order_id
  RETURNING o.order_id, o.version, old.status AS former
), history AS (
  INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
  SELECT order_id, version, 'pay', former, 'PAYING', now() FROM moved
)
SELECT version FROM moved`

	// knownPaid is the least that can answer a duplicate: row and fact by key.
	knownPaid = `SELECT o.order_id, o.status, o.version, o.deadline_at, o.deadline_runs, o.customer_id, o.sku, o.quantity, o.total_cents,
  o.paid_cents, o.refund_cents, o.refunded_cents, o.payment_no, o.paid_at, f.fingerprint, f.outcome, f.from_status, f.to_status, f.version
FROM orders AS o LEFT JOIN order_facts AS f ON f.event = 'payment_succeeded' AND f.identity = $2
WHERE o.order_id = $1`

	selectOrder = `SELECT status, version, total_cents, payment_no FROM orders WHERE order_id = $1`

	updatePaid = `UPDATE orders SET status = 'PAID', version = $2, deadline_at = NULL, deadline_runs = 0,
  paid_cents = $3, payment_no = $4, paid_at = now()
WHERE order_id = $1`

	updatePay = `UPDATE orders SET status = 'PAYING', version = $2, deadline_at = now() + interval '15 minutes', deadline_runs = 0
WHERE order_id = $1`

	insertHistory = `INSERT INTO order_history (order_id, version, event, from_status, to_status, at) VALUES ($1, $2, $3, $4, $5, now())`

	insertFact = `INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
VALUES ('payment_succeeded', $1, $2, $3, 'Applied', $4, 'PAID', $5, now())`

	insertOutbox = `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
VALUES ('order', $1, $2, 'payment_succeeded', 'order_paid', $3, now())`
)

// HandPaid is the statement of [Hand] for a payment: $1 key, $2 amount, $3 number.
func HandPaid() string { return handPaid }
