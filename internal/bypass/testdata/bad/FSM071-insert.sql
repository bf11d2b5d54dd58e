INSERT INTO orders (order_id, status, version) VALUES (1, 'PAID', 1);
INSERT INTO orders VALUES (1, 'PAID');
INSERT INTO orders (order_id) SELECT 1;
INSERT INTO public.orders DEFAULT VALUES;
COPY orders FROM '/tmp/x';
