-- What a trigger gives back after a write, for a statement, or before a DELETE
-- changes no write of the machine; what stands behind a RAISE is not come to.
CREATE FUNCTION after() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN NULL; END $$;
CREATE TRIGGER after AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION after();
CREATE TRIGGER whole BEFORE UPDATE ON orders FOR EACH STATEMENT EXECUTE FUNCTION after();
CREATE TRIGGER stays BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION after();
CREATE TRIGGER others BEFORE UPDATE ON other FOR EACH ROW EXECUTE FUNCTION after();
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF NEW.note = '' THEN
    RAISE EXCEPTION 'a note says something';
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER noted BEFORE INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION noted();
-- A key may be given before the row is there.
CREATE FUNCTION numbered() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.order_id := 7; RETURN NEW; END $$;
CREATE TRIGGER numbered BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION numbered();
