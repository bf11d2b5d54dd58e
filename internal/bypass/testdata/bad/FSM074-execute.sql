CREATE FUNCTION f(t text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I SET status = 1', t);
  EXECUTE 'UPDATE orders ' || 'SET status = 1';
  FOR t IN EXECUTE t LOOP NULL; END LOOP;
END $$;
