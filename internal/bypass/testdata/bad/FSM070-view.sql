CREATE VIEW open_orders AS SELECT order_id, status AS s, total_cents AS version FROM orders WHERE status <> 'PAID';
UPDATE open_orders SET s = 'PAID', version = 1;
