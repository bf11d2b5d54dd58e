-- fsmgen:allow FSM070
UPDATE orders SET status = 1;
-- fsmgen:allow FSM071 another code
UPDATE orders SET status = 1;
-- fsmgen:allow status we know
UPDATE orders SET status = 1;
UPDATE orders SET status = 1; -- fsmgen:allow FSM070 behind it
UPDATE orders SET status = 1;
UPDATE orders -- fsmgen:allow FSM070 inside it
SET status = 1;
-- fsmgen:allow FSM070 above nothing
