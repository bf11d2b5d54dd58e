-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION f(p_id uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  r shop.orders%ROWTYPE;
  k orders.order_id%TYPE;
  c CURSOR FOR SELECT * FROM orders FOR UPDATE;
BEGIN
  PERFORM 1 FROM orders;
  SELECT * INTO STRICT r FROM orders WHERE order_id = p_id;
  r.status := 'x';
  EXECUTE 'SELECT 1';
  UPDATE orders SET total_cents = 1 RETURNING status INTO r.status;
  RETURN 1;
END $$;
-- +goose StatementEnd
-- +goose Down
DROP FUNCTION f(uuid);
