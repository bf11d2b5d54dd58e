-- name: OrderPay :exec
UPDATE orders SET status = @status::text, total_cents = 1, version = version + 1 WHERE order_id = @order_id;
