package acceptance

import (
	"context"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// The statements of this file are wrong on purpose. Each is what a careful
// person could write, and each says or does something untrue once it had to
// wait for another session.

// snapshotFallback answers from the statement's first snapshot when the UPDATE
// found nothing to do after its wait.
func snapshotFallback(key order.Key, no string) act {
	return statement(`WITH moved AS (
		UPDATE orders SET status = 'PAID', version = version + 1, paid_cents = 100, payment_no = $2
		WHERE order_id = $1 AND status IN ('PENDING', 'PAYING')
		RETURNING status, version)
		SELECT format('Applied %s %s', status, version) FROM moved
		UNION ALL
		SELECT format('Replayed %s %s', status, version) FROM orders
		WHERE order_id = $1 AND NOT EXISTS (SELECT FROM moved)`, string(key), no)
}

// fromOfJoinedRow learns the state that was left from a second, unlocked scan
// of the table.
func fromOfJoinedRow(key order.Key, no string) act {
	return statement(`WITH moved AS (
		UPDATE orders AS o SET status = 'PAID', version = o.version + 1, paid_cents = 100, payment_no = $2
		FROM orders AS old
		WHERE o.order_id = $1 AND old.order_id = o.order_id AND o.status IN ('PENDING', 'PAYING')
		RETURNING o.order_id, o.version, old.status AS from_status
		), history AS (
		INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
		SELECT order_id, version, 'payment_succeeded', from_status, 'PAID', now() FROM moved)
		SELECT format('Applied PAID %s', version) FROM moved`, string(key), no)
}

// emitFromLocked writes the outbox from the locked row and not from the fact.
func emitFromLocked(key order.Key, no string) act {
	return statement(`WITH locked AS MATERIALIZED (
		SELECT order_id, status, version FROM orders WHERE order_id = $1 FOR NO KEY UPDATE
		), fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'payment_succeeded', $2, order_id, '100', 'Compensated', status, status, version, now() FROM locked
		ON CONFLICT DO NOTHING
		), emitted AS (
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', order_id::text, version, 'payment_succeeded', 'refund_due', '{}', now() FROM locked)
		SELECT format('Compensated %s %s', status, version) FROM locked`, string(key), no)
}

// moveBeforeFact updates first and finds out afterwards that the payment
// belongs elsewhere.
func moveBeforeFact(key order.Key, no string) act {
	return statement(`WITH moved AS (
		UPDATE orders SET status = 'PAID', version = version + 1, paid_cents = 100, payment_no = $2
		WHERE order_id = $1 AND status IN ('PENDING', 'PAYING')
		RETURNING order_id, version
		), fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'payment_succeeded', $2, order_id, '100', 'Applied', 'PENDING', 'PAID', version, now() FROM moved
		ON CONFLICT DO NOTHING)
		SELECT format('Applied PAID %s', version) FROM moved`, string(key), no)
}

// sumOfChildren guards by what other rows add up to. Its UPDATE waits for the
// row as ours does, and still adds up its first snapshot.
func sumOfChildren(key order.Key, cents int64) act {
	const guarded = `WITH moved AS (
		UPDATE orders AS o SET version = o.version + 1
		WHERE o.order_id = $1 AND o.status = 'PAID'
		  AND (SELECT COALESCE(sum(p.cents), 0) FROM parts AS p WHERE p.order_id = o.order_id) + $2::bigint <= o.paid_cents
		RETURNING o.order_id)
		INSERT INTO parts (order_id, cents) SELECT order_id, $2::bigint FROM moved RETURNING 'Applied'`
	return func(ctx context.Context, db fsm.DB) (string, error) {
		var outcome, sum string
		if err := db.QueryRow(ctx, guarded, string(key), cents).Scan(&outcome); err != nil {
			return "", err
		}
		err := db.QueryRow(ctx, `SELECT format('%s of %s', (SELECT sum(p.cents) FROM parts AS p WHERE p.order_id = o.order_id), o.paid_cents)
			FROM orders AS o WHERE o.order_id = $1`, string(key)).Scan(&sum)
		return outcome + ", " + sum, err
	}
}

// child adds the row that sumOfChildren adds up.
func child(key order.Key, cents int64) act {
	return statement(`INSERT INTO parts (order_id, cents) VALUES ($1, $2) RETURNING ''`, string(key), cents)
}

// both makes two calls.
func both(first, second act) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		if _, err := first(ctx, db); err != nil {
			return "", err
		}
		return second(ctx, db)
	}
}

// oneFactAnOrder takes any fact of the order for this one: it waits for the row,
// then asks whether the order has been told of a payment.
func oneFactAnOrder(key order.Key, no string) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		if _, err := db.Exec(ctx, `UPDATE orders SET payment_no = payment_no WHERE order_id = $1`, string(key)); err != nil {
			return "", err
		}
		return statement(`WITH moved AS (
			UPDATE orders AS o SET status = 'PAID', version = o.version + 1, paid_cents = 100, payment_no = $2
			WHERE o.order_id = $1 AND NOT EXISTS (SELECT FROM order_facts AS f WHERE f.order_id = o.order_id)
			RETURNING o.status, o.version)
			SELECT format('Applied %s %s', status, version) FROM moved
			UNION ALL
			SELECT format('Replayed %s %s', status, version) FROM orders
			WHERE order_id = $1 AND NOT EXISTS (SELECT FROM moved)`, string(key), no)(ctx, db)
	}
}

// lockAndJudgeInOne reads the state in the statement that takes the lock, and
// writes by what it read.
func lockAndJudgeInOne(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		tx, err := db.Begin(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback(context.Background()) }()
		var status string
		if err := tx.QueryRow(ctx, `WITH held AS MATERIALIZED (SELECT order_id FROM orders WHERE order_id = $1 FOR NO KEY UPDATE)
			SELECT o.status FROM orders AS o JOIN held AS h ON h.order_id = o.order_id`, string(key)).Scan(&status); err != nil {
			return "", err
		}
		if status != string(order.StatePending) {
			return "Ignored " + status, tx.Commit(ctx)
		}
		var got string
		if err := tx.QueryRow(ctx, `UPDATE orders SET status = 'CANCELLED', version = version + 1 WHERE order_id = $1
			RETURNING format('Applied %s %s', status, version)`, string(key)).Scan(&got); err != nil {
			return "", err
		}
		return got, tx.Commit(ctx)
	}
}

// zeroRowsIsDone takes an UPDATE without an error for a success.
func zeroRowsIsDone(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		_, err := db.Exec(ctx, `UPDATE orders SET status = 'CANCELLED', version = version + 1
			WHERE order_id = $1 AND status IN ('PENDING', 'PAYING')`, string(key))
		return "Applied CANCELLED", err
	}
}
