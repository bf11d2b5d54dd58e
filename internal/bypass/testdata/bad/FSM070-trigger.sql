CREATE FUNCTION shop_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.total_cents := 1;
  NEW.status := 'PAID';
  SELECT 2 INTO NEW.version;
  RETURN NEW;
END $$;
CREATE TRIGGER touch BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION shop_touch();
