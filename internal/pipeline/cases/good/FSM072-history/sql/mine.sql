SELECT event FROM door_history
WHERE version < 3;
