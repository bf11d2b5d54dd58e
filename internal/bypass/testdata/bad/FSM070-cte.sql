WITH a AS (SELECT 1), b AS (
  UPDATE orders SET status = 'PAID' RETURNING order_id
)
SELECT * FROM b;
