INSERT INTO doors (door_id, status, version)
VALUES (1, 'OPEN', 1);
