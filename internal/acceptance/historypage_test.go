package acceptance

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about histories.
func pageHistory(ctx context.Context, pool *pgxpool.Pool, file *os.File, keys []order.Key) error {
	rec := record.New(file, "order")
	orders := record.Table{Name: "orders", Key: []string{"order_id"}, Outbox: true,
		Columns: []string{"quantity", "total_cents", "paid_cents", "refund_cents", "refunded_cents", "payment_no"}} // what guards and checks read
	if err := rec.Began(ctx, pool, orders); err != nil { // the rows that were there before
		return err
	}
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			for _, key := range keys { // everything that may go wrong goes wrong meanwhile: see faults.md
				_, _ = record.Call(rec, fmt.Sprint("client ", n), key, "pay", nil, func() (order.Result, error) { return order.Pay(ctx, pool, key) })
			}
		})
	}
	clients.Wait()
	return rec.Found(ctx, pool, orders)
}
