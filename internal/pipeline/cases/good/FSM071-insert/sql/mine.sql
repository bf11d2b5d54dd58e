SELECT status FROM doors
WHERE door_id = 1;
