/* fsmgen:allow FSM070 a block comment */
UPDATE orders SET status = 1;
-- fsmgen:allow FSM070 an empty line may follow

-- and another comment

UPDATE orders SET status = 1;
/* fsmgen:allow FSM070 not on a line of its own */ UPDATE orders SET status = 1;
-- fsmgen:allow FSM070 not the statement below the next

SELECT 1;
UPDATE orders SET status = 1;
