UPDATE orders SET "Status" = 1;
UPDATE orders SET (total_cents, note) = (SELECT 1, status FROM orders);
