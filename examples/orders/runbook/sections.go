package runbook

import "github.com/pawl-go/pawl/examples/orders/shop"

// What is asked for each kind. The queries name their columns, so that what is
// shown does not change with the tables, and are in the order of what happened.

// numbersOf has the numbers by which others know an order: its own, and those of
// its payments and refunds.
const numbersOf = `WITH numbers (machine, number) AS (
  SELECT 'order', o.order_id::text FROM orders AS o WHERE o.order_id = $1::uuid
  UNION ALL SELECT 'payment', p.payment_no FROM payments AS p WHERE p.order_id = $1::uuid
  UNION ALL SELECT 'refund', r.refund_no FROM refunds AS r WHERE r.order_id = $1::uuid
)
`

// caseRefund is how the refunds that a case c is about stand now: a case does not
// close by itself when what it was opened for is settled. It is the refund that the
// detail names, or the one that gives a payment back whole under its number, each
// with the tries in its place. In JSON a number is quoted as in the detail.
const caseRefund = `(WITH RECURSIVE tries (first, refund_no, status, nth) AS (
		SELECT r.refund_no, r.refund_no, r.status, 1 FROM refunds AS r
		WHERE r.order_id = c.order_id AND (strpos(c.detail, 'refund_no=' || to_json(r.refund_no)::text) > 0
			OR strpos(c.detail, 'payment_no=' || to_json(r.refund_no)::text) > 0)
		UNION ALL SELECT t.first, r.refund_no, r.status, t.nth + 1
		FROM tries AS t JOIN fsm_audit AS a ON a.machine = 'refund' AND a.key = t.refund_no AND starts_with(a.action, '` + again + `')
		JOIN refunds AS r ON r.refund_no = substr(a.action, length('` + again + `') + 1) WHERE t.nth < 100
	) SELECT string_agg(CASE WHEN t.nth = 1 THEN '' ELSE '` + again + `' END || t.refund_no || ' ' || t.status, ', ' ORDER BY t.first, t.nth) FROM tries AS t) AS refund_now`

var ofOrder = []section{
	{title: "order", sql: `SELECT o.order_id, o.status, o.version, o.deadline_at, o.deadline_runs, o.customer_id, o.sku, o.quantity, o.total_cents,
		o.paid_cents, o.refund_cents, o.refunded_cents, o.payment_no, o.paid_at
		FROM orders AS o WHERE o.order_id = $1::uuid`},
	{title: "history", sql: `SELECT h.version, h.event, h.from_status, h.to_status, h.actor, h.reason, h.request_id, h.forced, h.at
		FROM order_history AS h WHERE h.order_id = $1::uuid ORDER BY h.version`},
	{title: "facts", sql: `SELECT f.event, f.identity, f.fingerprint, f.outcome, f.from_status, f.to_status, f.version, f.at
		FROM order_facts AS f WHERE f.order_id = $1::uuid ORDER BY f.at, f.event, f.identity`},
	{title: "payments", sql: `SELECT p.payment_no, p.status, p.version, p.amount_cents, p.paid_cents, p.provider_ref, p.deadline_at, p.settled_at
		FROM payments AS p WHERE p.order_id = $1::uuid ORDER BY p.payment_no`},
	{title: "refunds", sql: `SELECT r.refund_no, r.status, r.version, r.payment_no, r.amount_cents, r.attempts, r.deadline_at, r.settled_at
		FROM refunds AS r WHERE r.order_id = $1::uuid ORDER BY r.refund_no`},
	{title: "ledger", sql: `SELECT l.kind, l.number, l.payment_no, l.cents, l.outcome, l.provider, l.at
		FROM shop_ledger AS l WHERE l.order_id = $1::uuid ORDER BY l.at, l.kind, l.number`},
	{title: "cases", sql: `SELECT c.id, c.provider, c.delivery_id, c.event, c.outcome, c.detail, c.at, ` + caseRefund + `, ` + closed(cases, "c") + ` AS closed
		FROM shop_cases AS c WHERE c.order_id = $1::uuid ORDER BY c.id`},
	{title: "outbox, waiting", sql: numbersOf + `SELECT o.id, o.machine, o.key, o.version, o.event, o.topic, h.tries, h.error, h.next_at,
		h.id IS NOT NULL AND h.next_at IS NULL AS parked
		FROM numbers AS n JOIN fsm_outbox AS o ON o.machine = n.machine AND o.key = n.number
		LEFT JOIN fsm_outbox_holds AS h ON h.machine = o.machine AND h.key = o.key ORDER BY o.id`},
	{title: "outbox, set aside", sql: numbersOf + `SELECT a.id, a.machine, a.key, a.version, a.event, a.topic, a.tries, a.error, a.actor, a.reason, a.aside_at
		FROM numbers AS n JOIN fsm_outbox_aside AS a ON a.machine = n.machine AND a.key = n.number ORDER BY a.id`},
	{title: "inbox events", sql: numbersOf + `SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.state, e.outcome, e.reason, e.attempts, e.due_at, e.archived
		FROM (
			SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.state, e.outcome, e.reason, e.attempts, e.due_at, false AS archived FROM fsm_inbox AS e
			UNION ALL SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.state, e.outcome, e.reason, e.attempts, NULL, true FROM fsm_inbox_archive AS e
		) AS e WHERE e.object IN (SELECT n.number FROM numbers AS n UNION ALL SELECT 'refund/' || n.number FROM numbers AS n) ORDER BY e.id`},
	{title: "attempts", sql: numbersOf + `SELECT a.id, a.kind, a.business_key, a.state, a.sends, a.rounds, a.last_error, a.due, a.stuck_at, a.completed_at, a.archived_at
		FROM (
			SELECT a.id, a.kind, a.business_key, a.state, a.sends, a.rounds, a.last_error, a.due, a.stuck_at, a.completed_at, NULL::timestamptz AS archived_at, a.created_at FROM fsm_attempts AS a
			UNION ALL SELECT a.id, a.kind, a.business_key, a.state, a.sends, a.rounds, a.last_error, NULL, NULL, a.completed_at, a.archived_at, a.created_at FROM fsm_attempts_archive AS a
		) AS a WHERE a.business_key IN (SELECT n.number FROM numbers AS n) ORDER BY a.created_at, a.id`},
	// The record of a command keeps a fingerprint of what was asked and not its path;
	// its reply names the order.
	{title: "commands", sql: `SELECT c.scope, c.command, c.key, c.status, c.claimed_at, c.done_at, c.archived_at
		FROM (
			SELECT c.id, c.scope, c.command, c.key, c.status, c.claimed_at, c.done_at, c.body, NULL::timestamptz AS archived_at FROM fsm_command AS c
			UNION ALL SELECT c.id, c.scope, c.command, c.key, c.status, c.claimed_at, c.done_at, c.body, c.archived_at FROM fsm_command_archive AS c
		) AS c WHERE position(convert_to($1::uuid::text, 'UTF8') IN c.body) > 0 ORDER BY c.id`},
	{title: "audit", sql: numbersOf + `SELECT a.machine, a.key, a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a JOIN numbers AS n
		ON a.machine = n.machine AND a.key = n.number OR a.machine = 'fsm_outbox' AND a.key = n.machine || '/' || n.number ORDER BY a.id`},
}

var ofCommand = []section{
	{title: "command", sql: `SELECT c.scope, c.command, c.key, c.created_at, c.claimed_at, c.lease_until, c.fence, c.done_at, c.status, c.body
		FROM fsm_command AS c WHERE c.key = $1::text ORDER BY c.id`},
	{title: "archive", record: true, sql: `SELECT c.scope, c.command, c.key, c.created_at, c.claimed_at, c.fence, c.done_at, c.status, c.body, c.archived_at
		FROM fsm_command_archive AS c WHERE c.key = $1::text ORDER BY c.id`},
}

var ofOutbox = []section{
	{title: "waiting", sql: `SELECT o.id, o.version, o.event, o.topic, o.at, o.payload
		FROM fsm_outbox AS o WHERE o.machine || '/' || o.key = $1::text ORDER BY o.id`},
	{title: "hold", sql: `SELECT h.tries, h.error, h.since, h.next_at, h.next_at IS NULL AS parked
		FROM fsm_outbox_holds AS h WHERE h.machine || '/' || h.key = $1::text`},
	{title: "audit", sql: `SELECT a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a WHERE a.machine = 'fsm_outbox' AND a.key = $1::text ORDER BY a.id`},
}

var ofEvent = []section{
	{title: "event", sql: `SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.fingerprint, e.state, e.outcome, e.reason, e.attempts,
		e.due_at, e.gives_up_at, e.received_at, e.ended_at FROM fsm_inbox AS e WHERE e.id = $1::text::bigint`},
	{title: "archive", record: true, sql: `SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.fingerprint, e.state, e.outcome, e.reason, e.attempts,
		e.received_at, e.ended_at FROM fsm_inbox_archive AS e WHERE e.id = $1::text::bigint`},
	{title: "deliveries", sql: `SELECT d.id, d.message_id, d.received_at, d.verdicts, d.body IS NOT NULL AS has_body
		FROM fsm_deliveries AS d WHERE d.events @> ARRAY[$1::text::bigint] ORDER BY d.id`},
	{title: "audit", sql: `SELECT a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a WHERE a.machine = 'fsm_inbox' AND a.key = $1::text ORDER BY a.id`},
}

var ofLetter = []section{
	{title: "letter", sql: `SELECT l.id, l.consumer, l.key, l.topic, l.message_id, l.tries, l.error, l.at, l.settled, l.settled_by, l.settled_why, l.settled_at,
		l.metadata, l.payload FROM fsm_dead_letters AS l WHERE l.id = $1::text::bigint`},
	{title: "audit", sql: `SELECT a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a WHERE a.machine = 'fsm_dead_letters' AND a.key = $1::text ORDER BY a.id`},
}

var ofAttempt = []section{
	{title: "attempt", sql: `SELECT a.id, a.kind, a.business_key, a.request, a.state, a.ref, a.result, a.code, a.last_error, a.sends, a.rounds, a.fence,
		a.leased_until, a.due, a.created_at, a.first_sent_at, a.answered_at, a.completed_at, a.stuck_at
		FROM fsm_attempts AS a WHERE a.id = $1::text::uuid`},
	{title: "archive", record: true, sql: `SELECT a.id, a.kind, a.business_key, a.request, a.state, a.ref, a.result, a.code, a.last_error, a.sends, a.rounds, a.fence,
		a.steps, a.created_at, a.first_sent_at, a.answered_at, a.completed_at, a.archived_at
		FROM fsm_attempts_archive AS a WHERE a.id = $1::text::uuid`},
	{title: "steps", sql: `SELECT s.position, s.name, s.data, s.fence, s.at FROM fsm_attempt_steps AS s WHERE s.attempt_id = $1::text::uuid ORDER BY s.position`},
	{title: "audit", sql: `SELECT u.action, u.from_status, u.to_status, u.actor, u.reason, u.at
		FROM fsm_audit AS u JOIN fsm_attempt_keys AS a ON u.machine = 'attempt ' || a.kind AND u.key = a.attempt_id::text
		WHERE a.attempt_id = $1::text::uuid ORDER BY u.id`},
}

var ofRefund = []section{
	{title: "refund", sql: `SELECT r.refund_no, r.status, r.version, r.order_id, r.payment_no, r.amount_cents, r.attempts, r.deadline_at, r.deadline_runs, r.settled_at
		FROM refunds AS r WHERE r.refund_no = $1::text`},
	{title: "history", sql: `SELECT h.version, h.event, h.from_status, h.to_status, h.actor, h.reason, h.request_id, h.forced, h.at
		FROM refund_history AS h WHERE h.refund_no = $1::text ORDER BY h.version`},
	{title: "attempt", sql: `SELECT a.id, a.state, a.ref, a.code, a.last_error, a.sends, a.rounds, a.due, a.stuck_at, a.completed_at, NULL::timestamptz AS archived_at
		FROM fsm_attempts AS a WHERE a.kind = '` + shop.RefundKind + `' AND a.business_key = $1::text
		UNION ALL SELECT a.id, a.state, a.ref, a.code, a.last_error, a.sends, a.rounds, NULL, NULL, a.completed_at, a.archived_at
		FROM fsm_attempts_archive AS a WHERE a.kind = '` + shop.RefundKind + `' AND a.business_key = $1::text`},
	{title: "ledger", sql: `SELECT l.kind, l.number, l.payment_no, l.cents, l.outcome, l.provider, l.at FROM shop_ledger AS l WHERE l.kind = 'refund' AND l.number = $1::text`},
	{title: "audit", sql: `SELECT u.machine, u.action, u.from_status, u.to_status, u.actor, u.reason, u.at
		FROM fsm_audit AS u WHERE u.machine = 'refund' AND (u.key = $1::text OR u.action = '` + again + `' || $1::text)
		OR u.machine = 'attempt ` + shop.RefundKind + `' AND u.key IN (SELECT k.attempt_id::text FROM fsm_attempt_keys AS k WHERE k.kind = '` + shop.RefundKind + `' AND k.business_key = $1::text)
		ORDER BY u.id`},
}

var ofCase = []section{
	{title: "case", sql: `SELECT c.id, c.provider, c.delivery_id, c.order_id, c.event, c.outcome, c.detail, c.at, ` + caseRefund + `, ` + closed(cases, "c") + ` AS closed
		FROM shop_cases AS c WHERE c.id = $1::text::bigint`},
	{title: "audit", sql: `SELECT a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a WHERE a.machine = 'shop_cases' AND a.key = $1::text ORDER BY a.id`},
}

var ofDelivery = []section{
	{title: "delivery", sql: `SELECT d.id, d.provider, d.message_id, d.signed_at, d.received_at, d.verdicts, d.events, ` + closed(oddOnes, "d") + ` AS closed,
		d.body FROM fsm_deliveries AS d WHERE d.id = $1::text::bigint`},
	{title: "events", sql: `SELECT e.id, e.event_id, e.type, e.object, e.status, e.fingerprint, e.state, e.outcome, e.reason
		FROM fsm_deliveries AS d JOIN fsm_inbox AS e ON e.id = ANY (d.events) WHERE d.id = $1::text::bigint ORDER BY e.id`},
	{title: "audit", sql: `SELECT a.action, a.from_status, a.to_status, a.actor, a.reason, a.at
		FROM fsm_audit AS a WHERE a.machine = 'fsm_deliveries' AND a.key = $1::text ORDER BY a.id`},
}

// odd is the deliveries that a person has yet to look at.
var odd = section{title: "odd deliveries", note: "what they tell contradicts an event, or cannot be read: inspect delivery, then complete delivery",
	sql: `SELECT d.id, d.provider, d.message_id, d.verdicts, d.events, d.received_at, d.body IS NOT NULL AS has_body
		FROM fsm_deliveries AS d WHERE d.verdicts && '{unreadable,conflict}' AND NOT ` + closed(oddOnes, "d") + ` ORDER BY d.id LIMIT 100`}

// inInbox is what has not come to a good end in the inbox, the oldest 100 of each
// sort: parked events are tried again, the others wait for a person.
var inInbox = []section{
	{title: "parked", sql: `SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.reason, e.attempts, e.due_at, e.gives_up_at
		FROM fsm_inbox AS e WHERE e.state = 'parked' ORDER BY e.id LIMIT 100`},
	{title: "dead", sql: `SELECT e.id, e.provider, e.event_id, e.type, e.object, e.status, e.outcome, e.reason, e.attempts, e.ended_at
		FROM fsm_inbox AS e WHERE e.state = 'dead' ORDER BY e.id LIMIT 100`},
	odd,
}

// stuck is what waits for a person, the oldest 100 of each sort, with what to do
// about it; and, last, provider calls that do not yet.
var stuck = []section{
	{title: "cases", note: "refund_now is how its refund stands by now. inspect order, or refund; then complete case. A refund that is CLOSED: release refund NUMBER NEW",
		sql: `SELECT c.id, ` + caseRefund + `, c.order_id, c.event, c.outcome, c.detail, c.at FROM shop_cases AS c WHERE NOT ` + closed(cases, "c") + ` ORDER BY c.id LIMIT 100`},
	{title: "outbox, parked", note: "release outbox, or complete outbox",
		sql: `SELECT h.machine, h.key, h.tries, h.error, h.since FROM fsm_outbox_holds AS h WHERE h.next_at IS NULL ORDER BY h.since, h.id LIMIT 100`},
	{title: "outbox, failing for an hour", note: "nothing yet: each is tried again, and those of its key wait. Mend what the error says, then release outbox, or complete outbox",
		sql: `SELECT h.machine, h.key, h.tries, h.error, h.since, h.next_at FROM fsm_outbox_holds AS h
		WHERE h.next_at IS NOT NULL AND h.since < clock_timestamp() - interval '1 hour' ORDER BY h.since, h.id LIMIT 100`},
	{title: "inbox events, dead", note: "release event, or complete event",
		sql: `SELECT e.id, e.provider, e.type, e.object, e.status, e.reason, e.ended_at FROM fsm_inbox AS e WHERE e.state = 'dead' ORDER BY e.id LIMIT 100`},
	odd,
	{title: "letters", note: "release letter, or complete letter",
		sql: `SELECT l.id, l.consumer, l.key, l.topic, l.tries, l.error, l.at FROM fsm_dead_letters AS l WHERE l.settled = '' ORDER BY l.id LIMIT 100`},
	{title: "refunds, abnormal", note: "release refund; or ask the provider, and complete refund, or its attempt",
		sql: `SELECT r.refund_no, r.order_id, r.payment_no, r.amount_cents, r.attempts FROM refunds AS r WHERE r.status = 'ABNORMAL' ORDER BY r.refund_no LIMIT 100`},
	{title: "orders, not asked about their refunds any more", note: "inspect order, and ask the provider what has gone back; when all of it has: complete order ID REFUNDED",
		sql: `SELECT o.order_id, o.payment_no, o.paid_cents, o.refund_cents, o.refunded_cents, (
			SELECT coalesce(sum(l.cents), 0) FROM shop_ledger AS l WHERE l.order_id = o.order_id AND l.kind = 'refund') AS ledger_cents
		FROM orders AS o WHERE o.status = 'REFUNDING' AND o.deadline_at IS NULL ORDER BY o.order_id LIMIT 100`},
	{title: "attempts, stuck", note: "release attempt, or ask the provider and complete attempt",
		sql: `SELECT a.id, a.kind, a.business_key, a.state, a.last_error, a.stuck_at FROM fsm_attempts AS a WHERE a.stuck_at IS NOT NULL ORDER BY a.stuck_at, a.id LIMIT 100`},
	{title: "attempts, in doubt for an hour", note: "nothing yet: each is looked up again when it is due, and stuck after its last round. Is the provider up, its setting right?",
		sql: `SELECT a.id, a.kind, a.business_key, a.state, a.sends, a.rounds, a.last_error, a.first_sent_at, a.due FROM fsm_attempts AS a
		WHERE a.due IS NOT NULL AND a.state IN ('SENT', 'UNKNOWN') AND a.first_sent_at < clock_timestamp() - interval '1 hour' ORDER BY a.first_sent_at, a.id LIMIT 100`},
}
