INSERT INTO other SELECT * FROM orders;
INSERT INTO shop_points (order_id, status) SELECT order_id, status FROM orders ON CONFLICT (order_id) DO UPDATE SET status = 1;
MERGE INTO other USING orders ON true WHEN NOT MATCHED THEN INSERT (status) VALUES (1);
