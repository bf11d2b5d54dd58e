-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION pay(p_id uuid) RETURNS SETOF orders LANGUAGE plpgsql AS $body$
DECLARE
  r orders%ROWTYPE;
  n int := 0;
BEGIN
  /* UPDATE orders SET status = 'PAID' */ UPDATE orders SET status = 'PAID' WHERE order_id = p_id;
  IF n > 0 THEN
    UPDATE orders SET status = 'PAID' WHERE order_id = p_id RETURNING * INTO r;
  ELSE
    FOR r IN UPDATE orders SET version = 2 RETURNING * LOOP
      r.status := 'x';
    END LOOP;
  END IF;
  RETURN QUERY UPDATE orders SET status = 'x' RETURNING *;
EXCEPTION WHEN others THEN
  UPDATE orders SET status = 'FAILED';
END $body$;
-- +goose StatementEnd
