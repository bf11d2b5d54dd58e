DO $$ BEGIN UPDATE orders SET status = 'PAID'; END $$;
DO LANGUAGE plpgsql 'BEGIN UPDATE orders SET status = ''PAID''; END';
