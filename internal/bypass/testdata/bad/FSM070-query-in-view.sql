CREATE VIEW v AS SELECT s.b AS c FROM (SELECT order_id, status FROM orders) AS s (a, b);
UPDATE v SET c = 1;
