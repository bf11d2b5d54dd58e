DELETE FROM door_history
WHERE version < 3;
