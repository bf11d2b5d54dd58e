-- fsmgen:allow FSM070 a repair of spring
UPDATE doors SET note = NULL;
