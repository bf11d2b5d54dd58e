MERGE INTO orders AS o USING news AS n ON n.id = o.order_id
WHEN MATCHED AND n.gone THEN DELETE
WHEN MATCHED THEN UPDATE SET status = n.status
WHEN NOT MATCHED THEN INSERT (order_id, status) VALUES (n.id, n.status);
