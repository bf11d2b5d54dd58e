CREATE VIEW v (a, b) AS SELECT order_id, status FROM orders;
UPDATE v SET a = 1, b = 2;
