CREATE TABLE orders_2025 () INHERITS (orders);
UPDATE orders_2025 SET status = 'PAID';
