SELECT a.outcome, a.first_outcome, a.first_from, a.first_to, a.first_version, (a.o).order_id, (a.o).status, (a.o).version, (a.o).deadline_at,
  (a.o).deadline_runs, (a.o).customer_id, (a.o).sku, (a.o).quantity, (a.o).total_cents, (a.o).paid_cents, (a.o).refund_cents,
  (a.o).refunded_cents, (a.o).payment_no, (a.o).paid_at
FROM bench_payment_succeeded($1, $2, $3, $4, $5, $6, $7, $8) AS a
