UPDATE doors SET note = 'windy'
WHERE door_id = 1;
