-- name: OpenDoors :many
SELECT door_id FROM doors;
