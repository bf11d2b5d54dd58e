SELECT * FROM order_history JOIN order_facts USING (order_id);
SELECT * FROM fsm_outbox ORDER BY id FOR UPDATE SKIP LOCKED;
MERGE INTO order_facts USING x ON true WHEN MATCHED THEN DO NOTHING;
