DO $a$ BEGIN
  CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $b$ UPDATE orders SET status = 1 $b$;
END $a$;
