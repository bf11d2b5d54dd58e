CREATE VIEW v (a, b) AS SELECT * FROM orders;
UPDATE v SET a = 1;
