UPDATE orders AS o SET (total_cents, status) = (sqlc.arg('cents'), 'PAID');
UPDATE orders SET (version, paid_cents) = (SELECT 1, 2);
