CREATE FUNCTION f() RETURNS int LANGUAGE plpython3u AS $$ plpy.execute('update orders set status = 1') $$;
SELECT dblink_exec('x', 'UPDATE orders SET status = 1');
