-- The orders example's own tables, fifth part: which payment the money of a ledger
-- row is of, so that the books say what is left of a payment before more of it is
-- promised.

-- +goose Up
-- Empty where it is not known: such money counts as the order's own payment's.
ALTER TABLE shop_ledger ADD COLUMN payment_no text NOT NULL DEFAULT '';
UPDATE shop_ledger SET payment_no = number WHERE kind = 'payment';
-- The fact has what the provider told of the refund: its payment, then its amount.
UPDATE shop_ledger AS l SET payment_no = f.fingerprint::jsonb ->> 0
FROM order_facts AS f
WHERE l.kind = 'refund' AND f.event = 'refund_succeeded' AND f.identity = l.number AND f.order_id = l.order_id;
CREATE INDEX shop_ledger_order_idx ON shop_ledger (order_id);
CREATE INDEX shop_refunds_order_idx ON refunds (order_id);

-- +goose Down
DROP INDEX shop_refunds_order_idx;
DROP INDEX shop_ledger_order_idx;
ALTER TABLE shop_ledger DROP COLUMN payment_no;
