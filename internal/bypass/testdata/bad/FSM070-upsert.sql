INSERT INTO orders AS o (order_id, total_cents) VALUES (@order_id, 1)
ON CONFLICT (order_id) DO UPDATE SET total_cents = 2, status = EXCLUDED.status;
