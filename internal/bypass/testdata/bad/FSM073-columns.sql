ALTER TABLE orders ADD COLUMN note text, DROP COLUMN status, ALTER COLUMN version TYPE int,
  ALTER deadline_runs DROP NOT NULL, ALTER COLUMN status SET DEFAULT 'PAID';
ALTER TABLE orders DROP CONSTRAINT orders_status_check, DROP CONSTRAINT orders_pkey;
ALTER TABLE order_facts DROP CONSTRAINT order_facts_pkey;
