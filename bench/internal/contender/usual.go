package contender

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Usual is the transaction that everybody writes: lock the row, judge in Go, write
// row, history, fact and outbox. A duplicate is rolled back, which spares it the
// wait for the disk.
func Usual() Contender {
	return Contender{Name: "usual transaction", Writes: everything, Once: true, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		return each(func(ctx context.Context, d Delivery) (bool, error) {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return false, err
			}
			defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
			moved, err := usual(ctx, tx, event, d)
			if err != nil || !moved {
				return false, err
			}
			return true, tx.Commit(ctx)
		}), nil
	})}
}

// querier is a transaction, whose ever.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// usual does what goes between BEGIN and COMMIT. False is a duplicate.
func usual(ctx context.Context, tx querier, event Event, d Delivery) (bool, error) {
	o, err := read(ctx, tx, selectOrder+" FOR UPDATE", d)
	switch {
	case err != nil:
		return false, err
	case o.duplicate(event, d):
		return false, nil
	case !o.legal(event, d):
		return false, fmt.Errorf("%s is not legal from %s", event, o.Status)
	}
	_, err = update(ctx, tx, "", event, d, o)
	if err != nil {
		return false, err
	}
	return true, trace(ctx, tx, event, d, o)
}

func read(ctx context.Context, db querier, sql string, d Delivery) (o seen, err error) {
	err = db.QueryRow(ctx, sql, d.Key).Scan(&o.Status, &o.Version, &o.TotalCents, &o.PaymentNo)
	return o, err
}

// update moves the row, where it still fits and returns how many rows that were.
func update(ctx context.Context, db querier, where string, event Event, d Delivery, o seen) (int64, error) {
	var tag pgconn.CommandTag
	var err error
	if event == Pay {
		tag, err = db.Exec(ctx, updatePay+where, d.Key, o.Version+1)
	} else {
		tag, err = db.Exec(ctx, updatePaid+where, d.Key, o.Version+1, d.Cents, d.PaymentNo)
	}
	return tag.RowsAffected(), err
}

// trace writes history, fact and outbox.
func trace(ctx context.Context, tx querier, event Event, d Delivery, o seen) error {
	to := "PAID"
	if event == Pay {
		to = "PAYING"
	}
	if _, err := tx.Exec(ctx, insertHistory, d.Key, o.Version+1, string(event), o.Status, to); err != nil || event == Pay {
		return err
	}
	_, err := tx.Exec(ctx, insertFact, d.PaymentNo, d.Key, strconv.FormatInt(d.Cents, 10), o.Status, o.Version+1)
	if err != nil {
		return err
	}
	body, err := payload(d, o.Status, o.Version+1)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertOutbox, d.Key, o.Version+1, body)
	return err
}

// errLost says that somebody else was faster.
var errLost = errors.New("the version is another one by now")

// Retry is optimistic: read without a lock, judge in Go, write where the version
// is still the one that was read, and begin anew where it is not.
func Retry() Contender {
	return Contender{Name: "version and retry", Writes: everything, Once: true, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		return each(func(ctx context.Context, d Delivery) (bool, error) {
			for {
				o, err := read(ctx, pool, selectOrder, d)
				switch {
				case err != nil:
					return false, err
				case o.duplicate(event, d):
					return false, nil
				case !o.legal(event, d):
					return false, fmt.Errorf("%s is not legal from %s", event, o.Status)
				}
				err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					n, err := update(ctx, tx, " AND version = $2 - 1", event, d, o)
					if err == nil && n == 0 {
						err = errLost
					}
					if err != nil {
						return err
					}
					return trace(ctx, tx, event, d, o)
				})
				if !errors.Is(err, errLost) {
					return err == nil, err
				}
			}
		}), nil
	})}
}
