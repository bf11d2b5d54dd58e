SELECT status, version FROM orders WHERE order_id = @order_id FOR UPDATE;
DELETE FROM orders WHERE order_id = @order_id;
UPDATE other AS o SET status = r.status FROM orders AS r WHERE r.order_id = o.order_id;
COPY orders TO STDOUT;
