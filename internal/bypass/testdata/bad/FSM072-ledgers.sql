INSERT INTO order_history (version) VALUES (1);
UPDATE order_facts SET outcome = 'x';
DELETE FROM order_history;
TRUNCATE shop_stock, order_facts;
COPY order_facts FROM STDIN;
MERGE INTO article_history USING x ON true WHEN MATCHED THEN DELETE;
