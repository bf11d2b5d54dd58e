DO $$
BEGIN
  EXECUTE 'UPDATE orders SET status = ''PAID''';
END $$;
