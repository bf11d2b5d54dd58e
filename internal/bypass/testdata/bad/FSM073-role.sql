SET session_replication_role = replica;
SET LOCAL session_replication_role TO 'replica';
SELECT 1, set_config('session_replication_role', 'replica', true);
ALTER ROLE app SET session_replication_role = replica;
CREATE FUNCTION f() RETURNS int LANGUAGE sql SET session_replication_role = replica AS 'SELECT 1';
DO $$ BEGIN PERFORM set_config('session_replication_role', 'replica', true); END $$;
DO $$ BEGIN SET LOCAL session_replication_role = replica; END $$;
