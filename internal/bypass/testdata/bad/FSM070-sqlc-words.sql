-- name: A :many
SELECT sqlc.embed(orders) FROM orders WHERE order_id = ANY(sqlc.slice('ids')) AND total_cents=@limit AND sku = @user;

-- name: B :exec
UPDATE orders SET total_cents=@order, status=@status WHERE sku = sqlc.narg('sku')::text AND order_id = @select;
