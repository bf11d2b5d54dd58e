UPDATE doors SET note = 'windy',
  status = 'SHUT'
WHERE door_id = 1;
