CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$
  -- é
  /* é */ UPDATE orders SET status = 'PAID';
$$;
