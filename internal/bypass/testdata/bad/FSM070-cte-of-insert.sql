WITH moved AS (UPDATE orders SET status = 'PAID' RETURNING order_id)
INSERT INTO shop_points (order_id) SELECT order_id FROM moved;
