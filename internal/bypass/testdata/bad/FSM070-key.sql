-- name: Renumber :exec
UPDATE orders SET note = 'x', order_id = $1 WHERE order_id = $2;
CREATE VIEW numbered AS SELECT order_id AS nr, note FROM orders;
UPDATE numbered SET nr = 1;
INSERT INTO orders (order_id) VALUES (1) ON CONFLICT (order_id) DO UPDATE SET order_id = 2;
CREATE FUNCTION renumber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.order_id := 7;
  RETURN NEW;
END $$;
CREATE TRIGGER renumber BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION renumber();
