CREATE VIEW v AS SELECT order_id, total_cents AS status FROM orders;
UPDATE v SET status = 1;
CREATE VIEW pair AS SELECT o.status FROM orders AS o JOIN other USING (order_id);
UPDATE pair SET status = 1;
