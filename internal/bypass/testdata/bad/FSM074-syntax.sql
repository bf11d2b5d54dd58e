SELECT 1;
UPDATE orders WHERE status = 1;
UPDATE orders SET status = 1;
