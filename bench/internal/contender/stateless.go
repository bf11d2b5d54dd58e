package contender

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/qmuntal/stateless"
)

// ConfigureStateless says to a machine the part of the order machine that
// qmuntal/stateless can say.
func ConfigureStateless(m *stateless.StateMachine) {
	m.Configure("PENDING").Permit("pay", "PAYING").Permit("expire", "CANCELLED").Permit("payment_succeeded", "PAID").Permit("cancel", "CANCELLED")
	m.Configure("PAYING").PermitReentry("query_payment").Permit("payment_succeeded", "PAID").Permit("payment_failed", "PENDING").Permit("cancel", "CANCELLED")
	m.Configure("PAID").Permit("ship", "SHIPPED").Permit("refund", "REFUNDING").Ignore("payment_succeeded")
	m.Configure("SHIPPED").Permit("receive", "COMPLETED").Permit("refund", "REFUNDING")
	m.Configure("COMPLETED").Permit("refund", "REFUNDING")
	m.Configure("CANCELLED").Permit("payment_succeeded", "REFUNDING")
	m.Configure("REFUNDING").PermitReentry("query_refund").Permit("refund_succeeded", "REFUNDED")
}

// Stateless is qmuntal/stateless with the external storage of its README: one
// function reads the state, another one writes the new one, and nothing compares
// what is overwritten.
func Stateless() Contender {
	return Contender{Name: "qmuntal/stateless", Writes: rowOnly, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		if event != Paid {
			return nil, notOf("qmuntal/stateless", event)
		}
		return each(func(ctx context.Context, d Delivery) (moved bool, err error) {
			machine := stateless.NewStateMachineWithExternalStorage(
				func(ctx context.Context) (stateless.State, error) {
					var status string
					err := pool.QueryRow(ctx, "SELECT status FROM orders WHERE order_id = $1", d.Key).Scan(&status)
					return status, err
				},
				func(ctx context.Context, state stateless.State) error {
					_, err := pool.Exec(ctx, saveStatus, d.Key, state, d.Cents, d.PaymentNo)
					moved = err == nil
					return err
				}, stateless.FiringImmediate)
			ConfigureStateless(machine)
			err = machine.FireCtx(ctx, string(event))
			return moved, err
		}), nil
	})}
}
