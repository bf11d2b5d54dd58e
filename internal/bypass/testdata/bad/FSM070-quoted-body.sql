CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'SELECT ''é'';
  UPDATE orders SET total_cents = length(''x''), status = ''PAID''';
