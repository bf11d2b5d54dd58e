package contender

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Bare is the limit: one UPDATE that knows nothing and leaves no trace. An order
// that it does not move it says nothing of.
func Bare() Contender {
	return Contender{Name: "bare UPDATE", Writes: rowOnly, Once: true, Size: 1, Open: oneStatement(barePaid, barePay)}
}

// Hand is one statement by hand that writes what Pawl's writes, and does not know
// a duplicate from a mistake.
func Hand() Contender {
	return Contender{Name: "hand-written statement", Writes: everything, Once: true, Size: 1, Open: oneStatement(handPaid, handPay)}
}

func oneStatement(paid, pay string) func(context.Context, Env) (Opened, error) {
	return onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		return each(func(ctx context.Context, d Delivery) (bool, error) {
			var row pgx.Row
			if event == Pay {
				row = pool.QueryRow(ctx, pay, d.Key)
			} else {
				row = pool.QueryRow(ctx, paid, d.Key, d.Cents, d.PaymentNo)
			}
			var version int64
			err := row.Scan(&version)
			if errors.Is(err, pgx.ErrNoRows) {
				return false, nil
			}
			return err == nil, err
		}), nil
	})
}

// Known is the limit for duplicates: it reads row and fact, as generated code scans
// a row, and moves nothing.
func Known() Contender {
	return Contender{Name: "SELECT row and fact", Writes: "nothing", Once: true, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		if event != Paid {
			return nil, notOf("the SELECT", event)
		}
		return each(func(ctx context.Context, d Delivery) (bool, error) {
			var o knownOrder
			return false, pool.QueryRow(ctx, knownPaid, d.Key, d.PaymentNo).Scan(o.columns()...)
		}), nil
	})}
}
