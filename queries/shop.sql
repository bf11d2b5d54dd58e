-- The orders example's own queries.

-- name: ShopStockPut :exec
-- Sets the stock of an article to an absolute number.
INSERT INTO shop_stock AS s (sku, quantity) VALUES (@sku::text, @quantity::bigint)
ON CONFLICT ON CONSTRAINT shop_stock_pkey DO UPDATE SET quantity = EXCLUDED.quantity;

-- name: ShopStockGet :one
SELECT s.quantity FROM shop_stock AS s WHERE s.sku = @sku::text;

-- name: ShopStockTake :execrows
-- Takes pieces out of stock, all of them or none: no row when there are too few.
WITH taken AS (
  UPDATE shop_stock AS s SET quantity = s.quantity - @quantity::bigint
  WHERE s.sku = @sku::text AND s.quantity >= @quantity::bigint
  RETURNING s.sku
)
INSERT INTO shop_stock_moves (order_id, kind, sku, quantity)
SELECT @order_id::uuid, 'paid', t.sku, 0 - @quantity::bigint FROM taken AS t;

-- name: ShopPointsAdd :exec
-- Books points once for an order; the key refuses a second time.
INSERT INTO shop_points (order_id, kind, customer_id, points)
VALUES (@order_id::uuid, 'paid', @customer_id::text, @points::bigint);

-- name: ShopCaseOpen :exec
-- Records for a person what came of a delivery, once each.
INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail)
VALUES (@provider::text, @delivery_id::text, @order_id::uuid, @event::text, @outcome::text, @detail::text)
ON CONFLICT ON CONSTRAINT shop_cases_delivery_key DO NOTHING;
