UPDATE orders SET total_cents = 1, note = 'status = 1' WHERE status = 'PAID' AND version = 2;
UPDATE other SET status = 1, version = 2;
UPDATE "Orders" SET status = 1;
-- UPDATE orders SET status = 1;
SELECT 'UPDATE orders SET status = 1';
UPDATE other AS orders SET status = 1;
