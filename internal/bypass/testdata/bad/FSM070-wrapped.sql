EXPLAIN ANALYZE UPDATE orders SET status = 1;
PREPARE p AS UPDATE orders SET status = $1;
COPY (UPDATE orders SET status = 1 RETURNING *) TO STDOUT;
CREATE RULE r AS ON UPDATE TO other DO INSTEAD UPDATE orders SET status = NEW.status;
