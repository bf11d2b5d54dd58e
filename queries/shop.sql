-- The orders example's own queries.

-- name: ShopStockPut :exec
-- Sets the stock of an article to an absolute number.
INSERT INTO shop_stock AS s (sku, quantity) VALUES (@sku::text, @quantity::bigint)
ON CONFLICT ON CONSTRAINT shop_stock_pkey DO UPDATE SET quantity = EXCLUDED.quantity, version = s.version + 1;

-- name: ShopStockGet :one
SELECT s.quantity FROM shop_stock AS s WHERE s.sku = @sku::text;

-- name: ShopStockTake :execrows
-- Takes pieces out of stock, all of them or none: no row when there are too few.
WITH taken AS (
  UPDATE shop_stock AS s SET quantity = s.quantity - @quantity::bigint, version = s.version + 1
  WHERE s.sku = @sku::text AND s.quantity >= @quantity::bigint
  RETURNING s.sku
)
INSERT INTO shop_stock_moves (order_id, kind, sku, quantity)
SELECT @order_id::uuid, 'paid', t.sku, 0 - @quantity::bigint FROM taken AS t;

-- name: ShopStockRead :one
-- Reads what a caller decides on, with the version that its write must still find.
SELECT s.quantity, s.version FROM shop_stock AS s WHERE s.sku = @sku::text;

-- name: ShopStockSwap :execrows
-- Writes what a caller decided, unless the row has changed since it read it.
UPDATE shop_stock AS s SET quantity = @quantity::bigint, version = s.version + 1
WHERE s.sku = @sku::text AND s.version = @version::bigint;

-- name: ShopStockMoveAdd :execrows
-- Claims a move of stock: no row when it was booked before.
INSERT INTO shop_stock_moves (order_id, kind, sku, quantity)
VALUES (@order_id::uuid, @kind::text, @sku::text, @quantity::bigint)
ON CONFLICT ON CONSTRAINT shop_stock_moves_pkey DO NOTHING;

-- name: ShopStockMoveGet :one
SELECT m.sku, m.quantity FROM shop_stock_moves AS m WHERE m.order_id = @order_id::uuid AND m.kind = @kind::text;

-- name: ShopBalanceOpen :exec
INSERT INTO shop_balances (customer_id) VALUES (@customer_id::text) ON CONFLICT ON CONSTRAINT shop_balances_pkey DO NOTHING;

-- name: ShopBalanceRead :one
SELECT b.cents, b.version FROM shop_balances AS b WHERE b.customer_id = @customer_id::text;

-- name: ShopBalanceSwap :execrows
UPDATE shop_balances AS b SET cents = @cents::bigint, version = b.version + 1
WHERE b.customer_id = @customer_id::text AND b.version = @version::bigint;

-- name: ShopBookingAdd :execrows
-- Claims a booking: no row when its number was booked before.
INSERT INTO shop_bookings (customer_id, booking_no, cents, balance_cents, version)
VALUES (@customer_id::text, @booking_no::text, @cents::bigint, @balance_cents::bigint, @version::bigint)
ON CONFLICT ON CONSTRAINT shop_bookings_pkey DO NOTHING;

-- name: ShopBookingGet :one
SELECT k.cents, k.balance_cents, k.version, k.at FROM shop_bookings AS k
WHERE k.customer_id = @customer_id::text AND k.booking_no = @booking_no::text;

-- name: ShopLedgerAdd :execrows
-- Books money under the provider's number: no row when it is booked already.
INSERT INTO shop_ledger (kind, number, order_id, cents, outcome, provider, payment_no)
VALUES (@kind::text, @number::text, @order_id::uuid, @cents::bigint, @outcome::text, @provider::text, @payment_no::text)
ON CONFLICT ON CONSTRAINT shop_ledger_pkey DO NOTHING;

-- name: ShopLedgerOtherProvider :one
-- Says which other provider the number is booked of: empty when it is the same one,
-- or not known, or when nothing is booked.
SELECT COALESCE((
  SELECT l.provider FROM shop_ledger AS l
  WHERE l.kind = @kind::text AND l.number = @number::text AND l.provider <> @provider::text
), '')::text;

-- name: ShopLedgerHasRefund :one
SELECT EXISTS (SELECT 1 FROM shop_ledger AS l WHERE l.kind = 'refund' AND l.number = @refund_no::text);

-- name: ShopRefundBooks :one
-- What the books say of refunds of an order's own payment: what has gone back, what
-- of that went beside all promises, and what is on its way. Money that went back of
-- a payment that the ledger does not know counts too, since it can be of no other.
WITH back AS (
  SELECT l.cents, l.outcome, COALESCE(r.amount_cents, 0) AS promised
  FROM shop_ledger AS l LEFT JOIN refunds AS r ON r.refund_no = l.number
  WHERE l.order_id = @order_id::uuid AND l.kind = 'refund'
    AND (l.payment_no = @payment_no::text OR r.payment_no = @payment_no::text OR NOT EXISTS (
      SELECT 1 FROM shop_ledger AS p WHERE p.order_id = l.order_id AND p.kind = 'payment' AND p.number = l.payment_no
    ))
)
SELECT
  COALESCE((SELECT sum(0 - b.cents) FROM back AS b), 0)::bigint AS back_cents,
  COALESCE((SELECT sum(GREATEST(0 - b.cents - b.promised, 0)) FROM back AS b WHERE b.outcome = 'Compensated'), 0)::bigint AS beside_cents,
  COALESCE((
    SELECT sum(r.amount_cents) FROM refunds AS r
    WHERE r.order_id = @order_id::uuid AND r.payment_no = @payment_no::text AND r.status IN ('REQUESTED', 'SENT', 'ABNORMAL')
      AND NOT EXISTS (SELECT 1 FROM shop_ledger AS m WHERE m.kind = 'refund' AND m.number = r.refund_no)
  ), 0)::bigint AS underway_cents;

-- name: ShopPaymentBooks :one
-- What the books say of one payment of an order: what came in, what went back under
-- numbers that no refund of ours has, and what our refunds of it amount to. One that
-- was closed counts when the ledger has it all the same.
SELECT
  COALESCE((
    SELECT sum(l.cents) FROM shop_ledger AS l
    WHERE l.order_id = @order_id::uuid AND l.kind = 'payment' AND l.number = @payment_no::text
  ), 0)::bigint AS in_cents,
  COALESCE((
    SELECT sum(0 - l.cents) FROM shop_ledger AS l
    WHERE l.order_id = @order_id::uuid AND l.kind = 'refund' AND l.payment_no = @payment_no::text
      AND NOT EXISTS (SELECT 1 FROM refunds AS r WHERE r.refund_no = l.number)
  ), 0)::bigint AS strange_cents,
  COALESCE((
    SELECT sum(r.amount_cents) FROM refunds AS r
    WHERE r.order_id = @order_id::uuid AND r.payment_no = @payment_no::text
      AND (r.status <> 'CLOSED' OR EXISTS (SELECT 1 FROM shop_ledger AS m WHERE m.kind = 'refund' AND m.number = r.refund_no))
  ), 0)::bigint AS refunds_cents;

-- name: ShopOrderLock :exec
-- Has whoever would move the order wait.
SELECT 1 FROM orders AS o WHERE o.order_id = @order_id::uuid FOR NO KEY UPDATE;

-- name: ShopRefundLock :exec
-- Has whoever would move the refund, or start its call to the provider, wait.
SELECT 1 FROM refunds AS r WHERE r.refund_no = @refund_no::text FOR NO KEY UPDATE;

-- name: ShopPointsAdd :exec
-- Books points once for an order; the key refuses a second time.
INSERT INTO shop_points (order_id, kind, customer_id, points)
VALUES (@order_id::uuid, 'paid', @customer_id::text, @points::bigint);

-- name: ShopPaymentsSubmitted :many
-- The order's payments of which nobody knows the end.
SELECT p.payment_no FROM payments AS p
WHERE p.order_id = @order_id::uuid AND p.status = 'SUBMITTED' ORDER BY p.payment_no;

-- name: ShopCaseOpen :exec
-- Records for a person what came of a delivery, once each.
INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail)
VALUES (@provider::text, @delivery_id::text, @order_id::uuid, @event::text, @outcome::text, @detail::text)
ON CONFLICT ON CONSTRAINT shop_cases_delivery_key DO NOTHING;

-- name: ShopMailAdd :exec
-- Books a mail. Its key would refuse a second one; the consumer lets none come.
INSERT INTO shop_mails (order_id, kind) VALUES (@order_id::uuid, @kind::text);
