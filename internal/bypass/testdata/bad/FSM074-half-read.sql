CREATE FUNCTION f(o orders) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  o.total_cents := 1;
  UPDATE orders SET status = 'PAID' RETURNING version INTO o.version;
END $$;
