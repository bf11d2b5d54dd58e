-- name: OpenDoors :many
SELECT door_no FROM doors;
