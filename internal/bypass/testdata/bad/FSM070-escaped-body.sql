CREATE FUNCTION f() RETURNS void LANGUAGE sql AS
  E'UPDATE orders\nSET status = 1';
