DO $$ BEGIN UPDATE orders SET status = 1; UPDATE orders SET status = 1; END $$;
