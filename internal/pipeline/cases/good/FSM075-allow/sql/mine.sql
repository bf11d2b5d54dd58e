-- fsmgen:allow FSM070 a repair of spring
UPDATE doors SET status = 'SHUT', version = version + 1 WHERE door_id = 4;
