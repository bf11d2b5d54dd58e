CREATE TYPE bench_answer AS (outcome text, first_outcome text, first_from text, first_to text, first_version bigint, o orders);

CREATE FUNCTION bench_payment_succeeded(number text, cents bigint, k uuid, expected bigint, clock timestamptz, actor text, reason text, request text)
RETURNS SETOF bench_answer LANGUAGE plpgsql AS $$
DECLARE
  a bench_answer; o orders; f order_facts; moves boolean; target text; told bigint; stamp timestamptz := COALESCE(clock, now());
BEGIN
  SELECT x.* INTO f FROM order_facts AS x WHERE x.event = 'payment_succeeded' AND x.identity = number;
  IF FOUND THEN
    SELECT x.* INTO o FROM orders AS x WHERE x.order_id = k;
    IF NOT FOUND THEN RETURN; END IF;
    a.o := o; a.outcome := 'Mismatched';
    IF f.order_id = k AND f.fingerprint = cents::text THEN
      a.outcome := 'Replayed'; a.first_outcome := f.outcome; a.first_from := f.from_status; a.first_to := f.to_status; a.first_version := f.version;
    END IF;
    RETURN NEXT a; RETURN;
  END IF;
  SELECT x.* INTO o FROM orders AS x WHERE x.order_id = k FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  target := CASE WHEN o.status IN ('PENDING', 'PAYING') AND (o.total_cents = cents) IS TRUE THEN 'PAID'
    WHEN o.status = 'CANCELLED' THEN 'REFUNDING' ELSE o.status END;
  moves := target <> o.status;
  IF moves AND o.version <> expected THEN
    a.outcome := 'Stale'; a.o := o; RETURN NEXT a; RETURN;
  END IF;
  INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
  VALUES ('payment_succeeded', number, k, cents::text, CASE WHEN moves THEN 'Applied' ELSE 'Compensated' END, o.status, target, o.version + moves::int, stamp)
  ON CONFLICT ON CONSTRAINT order_facts_pkey DO NOTHING;
  GET DIAGNOSTICS told = ROW_COUNT;
  IF told = 0 THEN
    a.outcome := 'raced'; a.o := o; RETURN NEXT a; RETURN;
  END IF;
  a.outcome := 'Compensated'; a.first_from := o.status;
  IF moves THEN
    UPDATE orders AS x SET status = target, version = o.version + 1, deadline_runs = 0,
      deadline_at = CASE WHEN target = 'REFUNDING' THEN stamp + interval '24 hours' END,
      paid_cents = cents, refund_cents = CASE WHEN target = 'REFUNDING' THEN cents ELSE o.refund_cents END, payment_no = number, paid_at = stamp
    WHERE x.order_id = k RETURNING x.* INTO o;
    INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, reason, request_id, at)
    VALUES (k, o.version, 'payment_succeeded', a.first_from, o.status, actor, reason, request, stamp);
    a.outcome := 'Applied';
  END IF;
  INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
  VALUES ('order', k::text, o.version, 'payment_succeeded', CASE WHEN moves AND target = 'PAID' THEN 'order_paid' ELSE 'refund_due' END,
    jsonb_build_object('machine', 'order', 'key', k::text, 'version', o.version, 'event', 'payment_succeeded', 'from', a.first_from, 'to', o.status,
      'params', jsonb_build_object('payment_no', number, 'paid_cents', cents), 'identity', number), stamp);
  a.first_outcome := a.outcome; a.first_to := o.status; a.first_version := o.version; a.o := o;
  RETURN NEXT a;
END $$
