SELECT 1;
UPDATE orders
SET status = 1;
