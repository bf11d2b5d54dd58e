-- SIZE orders over the last SPAN, set-wise and as their calls would have left them: of
-- a hundred, 80 are delivered in the end, 12 expire, 5 go back, 3 fail to pay once; of
-- 10,000 one stays PAYING and one PAID. Every 200th was paid twice, which was compensated.
-- Callbacks of the last week are in the inbox, every third told twice. A fifth as many
-- commands, attempts, letters and tokens are beside them. SIZE and SPAN are exchanged before
-- it is run.
SET synchronous_commit = off;
ALTER TABLE orders DISABLE TRIGGER USER;
CREATE TEMPORARY TABLE step AS SELECT s.*, lead(s.after) OVER (PARTITION BY path ORDER BY n) AS until FROM (VALUES
  ('done', 1, 'create', NULL, 'PENDING', interval '0'), ('done', 2, 'pay', 'PENDING', 'PAYING', '2 minutes'), ('done', 3, 'payment_succeeded', 'PAYING', 'PAID', '4 minutes'),
  ('done', 4, 'ship', 'PAID', 'SHIPPED', '1 hour'), ('done', 5, 'receive', 'SHIPPED', 'COMPLETED', '3 days'),
  ('gone', 1, 'create', NULL, 'PENDING', '0'), ('gone', 2, 'expire', 'PENDING', 'CANCELLED', '30 minutes'),
  ('back', 1, 'create', NULL, 'PENDING', '0'), ('back', 2, 'pay', 'PENDING', 'PAYING', '1 minute'), ('back', 3, 'payment_succeeded', 'PAYING', 'PAID', '3 minutes'),
  ('back', 4, 'refund', 'PAID', 'REFUNDING', '1 day'), ('back', 5, 'refund_succeeded', 'REFUNDING', 'REFUNDED', '26 hours'),
  ('fail', 1, 'create', NULL, 'PENDING', '0'), ('fail', 2, 'pay', 'PENDING', 'PAYING', '1 minute'), ('fail', 3, 'payment_failed', 'PAYING', 'PENDING', '2 minutes'),
  ('fail', 4, 'pay', 'PENDING', 'PAYING', '3 minutes'), ('fail', 5, 'payment_succeeded', 'PAYING', 'PAID', '5 minutes'), ('fail', 6, 'ship', 'PAID', 'SHIPPED', '2 hours'), ('fail', 7, 'receive', 'SHIPPED', 'COMPLETED', '4 days'),
  ('open', 1, 'create', NULL, 'PENDING', '0'), ('open', 2, 'pay', 'PENDING', 'PAYING', '1 minute'),
  ('kept', 1, 'create', NULL, 'PENDING', '0'), ('kept', 2, 'pay', 'PENDING', 'PAYING', '2 minutes'), ('kept', 3, 'payment_succeeded', 'PAYING', 'PAID', '4 minutes')
) AS s(path, n, event, was, becomes, after);
CREATE TEMPORARY TABLE made AS SELECT i, md5(i::text)::uuid AS id, now() - interval 'SPAN' * (1 - i::float8 / SIZE) AS at,
  CASE WHEN i % 10000 = 98 THEN 'open' WHEN i % 10000 = 99 THEN 'kept' WHEN i % 100 < 80 THEN 'done' WHEN i % 100 < 92 THEN 'gone' WHEN i % 100 < 97 THEN 'back' ELSE 'fail' END AS path
FROM generate_series(1, SIZE) AS i;
INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents, paid_cents, payment_no)
SELECT m.id, s.becomes, s.n, CASE s.becomes WHEN 'PENDING' THEN m.at + s.after + interval '30 minutes' WHEN 'PAYING' THEN m.at + s.after + interval '15 minutes'
    WHEN 'SHIPPED' THEN m.at + s.after + interval '10 days' WHEN 'REFUNDING' THEN m.at + s.after + interval '1 day' END,
  'c' || m.i % 1000, 'tea', 1, 1000 + m.i % 9000, CASE WHEN s.n >= 3 AND s.becomes <> 'PENDING' THEN 1000 + m.i % 9000 ELSE 0 END, CASE WHEN s.n >= 3 AND s.becomes <> 'PENDING' THEN 'p' || m.i END
FROM made AS m JOIN step AS s USING (path) WHERE m.at + s.after <= now() AND (s.until IS NULL OR m.at + s.until > now()) ORDER BY m.i;
INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, request_id, at)
SELECT m.id, s.n, s.event, s.was, s.becomes, CASE WHEN s.event IN ('pay', 'create') THEN 'c' || m.i % 1000 ELSE '' END, 'r' || m.i || '-' || s.n, m.at + s.after
FROM made AS m JOIN step AS s USING (path) WHERE m.at + s.after <= now() ORDER BY m.at + s.after;
CREATE TEMPORARY TABLE told AS SELECT s.event, m.id, m.i, s.n, s.was, s.becomes, m.at + s.after AS at, 'Applied' AS outcome,
  CASE s.event WHEN 'payment_succeeded' THEN 'p' WHEN 'payment_failed' THEN 'f' ELSE 'r' END || m.i AS identity
FROM made AS m JOIN step AS s USING (path) WHERE s.event IN ('payment_succeeded', 'payment_failed', 'refund', 'refund_succeeded') AND m.at + s.after <= now()
UNION ALL SELECT 'payment_succeeded', m.id, m.i, 3, 'PAID', 'PAID', m.at + interval '10 minutes', 'Compensated', 'q' || m.i FROM made AS m WHERE m.i % 200 = 7 AND m.at + interval '10 minutes' <= now();
INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
SELECT t.event, t.identity, t.id, (1000 + t.i % 9000)::text, t.outcome, t.was, t.becomes, t.n, t.at FROM told AS t ORDER BY t.at;
INSERT INTO fsm_outbox_sent (id, machine, key, version, event, topic, payload, at, sent_at)
SELECT row_number() OVER (ORDER BY t.at), 'order', t.id::text, t.n, t.event, CASE t.outcome WHEN 'Applied' THEN 'order_paid' ELSE 'refund_due' END, '{}', t.at, t.at + interval '200 milliseconds'
FROM told AS t WHERE t.event = 'payment_succeeded' AND t.at > now() - interval '7 days' ORDER BY t.at;
INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
SELECT 'order', m.id::text, 1, 'create', 'order_created', '{}', m.at FROM made AS m ORDER BY m.i DESC LIMIT 200;
CREATE TEMPORARY TABLE heard AS SELECT row_number() OVER (ORDER BY t.at) AS id, t.event, t.i, t.at, t.outcome, t.identity FROM told AS t WHERE t.event <> 'refund' AND t.at > now() - interval '7 days';
INSERT INTO fsm_deliveries (provider, message_id, received_at, digest, events, verdicts, recorded_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'm' || d.id, d.at, '', ARRAY[d.id], '{done}', d.at FROM heard AS d ORDER BY d.id;
INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, outcome, gives_up_at, received_at, ended_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'ev_' || d.identity || d.event, d.event, d.identity, d.event, '', d.id, 'done', d.outcome, d.at, d.at, d.at FROM heard AS d ORDER BY d.id;
INSERT INTO fsm_deliveries (provider, message_id, received_at, digest, events, verdicts, recorded_at)
SELECT CASE d.id % 3 WHEN 0 THEN 'alipay' ELSE 'stripe' END, 'm' || d.id || 'b', least(now(), d.at + interval '30 seconds'), '', ARRAY[d.id], '{duplicate}', d.at FROM heard AS d WHERE d.id % 3 = 1 ORDER BY d.id;
INSERT INTO fsm_command (scope, command, key, algorithm, fingerprint, owner, fence, lease_until, created_at, claimed_at, done_at, status, headers, body)
SELECT 's', 'c' || i % 3, 'k' || i, 1, sha256(i::text::bytea), '', i, now(), now() - i * interval '1 second', now(), now(), 200 + i % 5 * 50, '{}', '' FROM generate_series(1, SIZE / 5) AS i;
INSERT INTO fsm_attempts (id, kind, business_key, request, state, created_at, answered_at, completed_at, due, stuck_at)
SELECT md5('a' || i)::uuid, 'k' || i % 2, 'p' || i, '{}', 'SUCCEEDED', now() - i * interval '1 second', now(), CASE WHEN i % 20 > 1 THEN now() END, CASE i % 20 WHEN 1 THEN now() - i * interval '1 second' END, CASE i % 20 WHEN 0 THEN now() END FROM generate_series(1, SIZE / 5) AS i;
INSERT INTO fsm_attempt_keys (kind, business_key, attempt_id) SELECT a.kind, a.business_key, a.id FROM fsm_attempts AS a;
INSERT INTO fsm_dead_letters (consumer, key, topic, message_id, payload, metadata, tries, error, at, settled, settled_by, settled_why, settled_at)
SELECT 'l' || i % 2, 'k' || i, 't', 'm' || i, '', '{}', 1, '', now(), CASE WHEN i % 9 = 0 THEN '' ELSE 'discarded' END, CASE WHEN i % 9 = 0 THEN '' ELSE 'x' END, CASE WHEN i % 9 = 0 THEN '' ELSE 'x' END, CASE WHEN i % 9 <> 0 THEN now() END FROM generate_series(1, SIZE / 5) AS i;
INSERT INTO fsm_token (hash, kind, principal, purpose, expires_at, keep, sweep_at) SELECT sha256(i::text::bytea), 'k', 'p', 'u', now(), interval '1 day', now() + (i - SIZE / 10) * interval '1 second' FROM generate_series(1, SIZE / 5) AS i;
INSERT INTO fsm_outbox_holds (machine, key, tries, error, since, next_at) SELECT 'order', 'h' || i, 3, 'e', now(), CASE WHEN i % 3 > 0 THEN now() END FROM generate_series(1, SIZE / 50) AS i;
INSERT INTO fsm_outbox_aside (id, machine, key, version, event, topic, payload, at, tries, error, actor, reason, aside_at) SELECT i, 'order', 'h' || i, 1, 'e', 't', '{}', now(), 3, 'e', 'a', 'r', now() FROM generate_series(1, SIZE / 50) AS i;
INSERT INTO fsm_refused_deliveries (provider, reason, day, count, last_at) SELECT 'p' || i % 5, 'signature', current_date - i / 5, 7, now() FROM generate_series(0, 999) AS i;
ALTER TABLE orders ENABLE TRIGGER USER;
DROP TABLE step, made, told, heard;
