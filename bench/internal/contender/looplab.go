package contender

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	looplab "github.com/looplab/fsm"
)

// LooplabEvents is the part of the order machine that looplab/fsm can say.
func LooplabEvents() looplab.Events {
	return looplab.Events{
		{Name: "pay", Src: []string{"PENDING"}, Dst: "PAYING"},
		{Name: "query_payment", Src: []string{"PAYING"}, Dst: "PAYING"},
		{Name: "query_refund", Src: []string{"REFUNDING"}, Dst: "REFUNDING"},
		{Name: "expire", Src: []string{"PENDING"}, Dst: "CANCELLED"},
		{Name: "payment_succeeded", Src: []string{"PENDING", "PAYING"}, Dst: "PAID"},
		{Name: "payment_succeeded", Src: []string{"CANCELLED"}, Dst: "REFUNDING"},
		{Name: "payment_failed", Src: []string{"PAYING"}, Dst: "PENDING"},
		{Name: "cancel", Src: []string{"PENDING", "PAYING"}, Dst: "CANCELLED"},
		{Name: "ship", Src: []string{"PAID"}, Dst: "SHIPPED"},
		{Name: "receive", Src: []string{"SHIPPED"}, Dst: "COMPLETED"},
		{Name: "refund", Src: []string{"PAID", "SHIPPED", "COMPLETED"}, Dst: "REFUNDING"},
		{Name: "refund_succeeded", Src: []string{"REFUNDING"}, Dst: "REFUNDED"},
	}
}

// saveStatus is the state that a machine in memory is in, written over what the
// row has. The version is for the triggers alone.
const saveStatus = `UPDATE orders SET status = $2, version = version + 1, deadline_at = NULL, deadline_runs = 0,
  paid_cents = $3, payment_no = $4, paid_at = now()
WHERE order_id = $1`

// Looplab is looplab/fsm with its README's way to do something at a transition: a
// machine that begins in the state read, and a callback that saves the new one.
// Nothing compares what is overwritten.
func Looplab() Contender {
	return Contender{Name: "looplab/fsm", Writes: rowOnly, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		if event != Paid {
			return nil, notOf("looplab/fsm", event)
		}
		events := LooplabEvents()
		return each(func(ctx context.Context, d Delivery) (bool, error) {
			var status string
			if err := pool.QueryRow(ctx, "SELECT status FROM orders WHERE order_id = $1", d.Key).Scan(&status); err != nil {
				return false, err
			}
			var saved error
			machine := looplab.NewFSM(status, events, looplab.Callbacks{
				"enter_state": func(ctx context.Context, e *looplab.Event) {
					_, saved = pool.Exec(ctx, saveStatus, d.Key, e.Dst, d.Cents, d.PaymentNo)
				},
			})
			err := machine.Event(ctx, string(event))
			if known := (looplab.InvalidEventError{}); errors.As(err, &known) {
				return false, nil // moved before, it says
			}
			return err == nil && saved == nil, errors.Join(err, saved)
		}), nil
	})}
}
