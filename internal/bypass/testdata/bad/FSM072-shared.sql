DELETE FROM fsm_outbox WHERE id = $1;
INSERT INTO fsm_outbox (topic) VALUES ('x');
DELETE FROM fsm_audit;
TRUNCATE fsm_outbox;
