-- fsmgen:allow FSM070 the import of 2019, once
-- name: Import :exec
UPDATE orders SET status = 1, version = 2;
UPDATE orders SET status = 1;
DO $$
BEGIN
  -- fsmgen:allow FSM070 in a body too
  UPDATE orders SET status = 1;
  UPDATE orders SET version = 1;
END $$;
-- fsmgen:allow FSM072 nothing here
SELECT 1;
