package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/linear"
)

// The engines of this file are wrong on purpose, beside those of naive_test.go: each
// answers OUTCOME STATE VERSION.

// then runs a second statement and answers as the first did.
func (a act) then(sql string, args ...any) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		got, err := a(ctx, db)
		if err != nil {
			return "", err
		}
		_, err = db.Exec(ctx, sql, args...)
		return got, err
	}
}

// says has the act answer something else.
func (a act) says(answer string) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		_, err := a(ctx, db)
		return answer, err
	}
}

// wholeFrom is fromOfJoinedRow that keeps facts and outbox too.
func wholeFrom(key order.Key, no string) act {
	return fromOfJoinedRow(key, no).then(`WITH told AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT event, $2, order_id, '100', 'Applied', from_status, to_status, version, at FROM order_history
		WHERE order_id = $1 AND event = 'payment_succeeded' RETURNING version)
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', $1::text, version, 'payment_succeeded', 'order_paid', '{}', now() FROM told`, string(key), no)
}

// childrenRefund is sumOfChildren, told as a refund is.
func childrenRefund(key order.Key, cents int64) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		if _, err := sumOfChildren(key, cents)(ctx, db); err != nil {
			return "", err
		}
		return statement(`SELECT format('Applied %s %s', status, version) FROM orders WHERE order_id = $1`, string(key))(ctx, db)
	}
}

// moreThanNothing asks whether anything is left, and not whether enough is.
func moreThanNothing(key order.Key, cents int64) act {
	return statement(`UPDATE orders SET refund_cents = refund_cents + $2::bigint, version = version + 1
		WHERE order_id = $1 AND status = 'PAID' AND refund_cents < paid_cents
		RETURNING format('Applied %s %s', status, version)`, string(key), cents)
}

// checkThenAct reads the state, judges it in the program, and writes by the key alone.
func checkThenAct(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		var status string
		var version int64
		if err := db.QueryRow(ctx, `SELECT status, version FROM orders WHERE order_id = $1`, string(key)).Scan(&status, &version); err != nil {
			return "", err
		}
		if status != string(order.StatePending) {
			return fmt.Sprintf("Ignored %s %d", status, version), nil
		}
		return statement(`UPDATE orders SET status = 'CANCELLED', version = version + 1, deadline_at = NULL WHERE order_id = $1
			RETURNING format('Applied %s %s', status, version)`, string(key))(ctx, db)
	}
}

// lockThenJudge takes a lock, which is free, and judges by what its snapshot has.
func lockThenJudge(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		if _, err := db.Exec(ctx, `SELECT pg_advisory_xact_lock(7)`); err != nil {
			return "", err
		}
		return statement(`SELECT format('Rejected %s %s', status, version) FROM orders WHERE order_id = $1 AND status <> 'PAID'`, string(key))(ctx, db)
	}
}

// createIsDone takes an INSERT without an error for a creation.
func createIsDone(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		_, err := db.Exec(ctx, `INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
			VALUES ($1, 'PENDING', 1, 'c1', 'tea', 1, 100) ON CONFLICT DO NOTHING`, string(key))
		return "Applied PENDING 1", err
	}
}

// lostTrace records what the guard refuses by NOT (guard), which NULL is not either.
func lostTrace(key order.Key, no string) act {
	return statement(`WITH fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'refund_succeeded', $2, order_id, '["P1", 100]', 'Compensated', status, status, version, now() FROM orders
		WHERE order_id = $1 AND NOT (payment_no = 'P1' AND refunded_cents + 100 = paid_cents))
		SELECT format('Compensated %s %s', status, version) FROM orders WHERE order_id = $1`, string(key), no)
}

// byItsBody takes the callback's body, as it came, for what makes it the same fact: with
// its members in another order it is another. What it writes is what the statement writes.
func byItsBody(key order.Key, body string) act {
	return statement(`WITH fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'payment_succeeded', $2, order_id, '100', CASE WHEN status IN ('PENDING', 'PAYING') THEN 'Applied' ELSE 'Compensated' END, status, 'PAID',
			version + (status IN ('PENDING', 'PAYING'))::int, now() FROM orders WHERE order_id = $1
		ON CONFLICT DO NOTHING RETURNING order_id, outcome, from_status, version
		), moved AS (
		UPDATE orders AS o SET status = 'PAID', version = f.version, paid_cents = 100, payment_no = 'P1', deadline_at = NULL
		FROM fact AS f WHERE o.order_id = f.order_id AND f.outcome = 'Applied'
		), history AS (
		INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
		SELECT order_id, version, 'payment_succeeded', from_status, 'PAID', now() FROM fact WHERE outcome = 'Applied'
		), emitted AS (
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', order_id::text, version, 'payment_succeeded', CASE outcome WHEN 'Applied' THEN 'order_paid' ELSE 'refund_due' END, '{}', now() FROM fact)
		SELECT format('%s PAID %s', outcome, version) FROM fact
		UNION ALL SELECT format('Replayed %s %s', status, version) FROM orders WHERE order_id = $1 AND NOT EXISTS (SELECT FROM fact)`, string(key), body)
}

func engines() []staged {
	paid1 := asksPaid(key1, "P1", due)
	return []staged{
		{
			name: "the fallback reads the first snapshot", of: "1, 3", alone: linear.Accepted,
			winner: paid1, loser: paid1.instead(snapshotFallback(key1, "P1")), says: "was told: Replayed PENDING 1",
		},
		{
			name: "a fact is looked for in the first snapshot", of: "1, 3", alone: linear.Accepted,
			winner: asksPaid(key1, "P1", 99), loser: asksPaid(key1, "P2", due).instead(oneFactAnOrder(key1, "P2")), says: "was told: Replayed PENDING 1",
		},
		{
			name: "history learns the state that was left from a joined row", of: "2", books: true, alone: linear.Accepted,
			winner: asks("pay", order.Pay, key1), loser: paid1.instead(wholeFrom(key1, "P1")),
			says: "payment_succeeded PENDING→PAID 3; facts",
		},
		{
			name: "the outbox is written from the locked row", of: "4", books: true, alone: linear.Accepted,
			given:  []asked{paid1},
			winner: asksPaid(key1, "P2", due), loser: asksPaid(key1, "P2", due).instead(emitFromLocked(key1, "P2")), says: "was told: Compensated PAID 2",
		},
		{
			name: "… and the answer is true", of: "4", books: true, alone: linear.Refused,
			given:  []asked{paid1},
			winner: asksPaid(key1, "P2", due), loser: asksPaid(key1, "P2", due).instead(emitFromLocked(key1, "P2").says("Replayed PAID 2")),
			says: "refund_due of payment_succeeded 2, refund_due of payment_succeeded 2",
		},
		{
			name: "the row is moved before the fact is known", of: "4", alone: linear.Accepted,
			winner: paid1, loser: asksPaid(key2, "P1", due).instead(moveBeforeFact(key2, "P1")), says: "was told: Applied PAID 2",
		},
		{
			name: "a guard adds up other rows", of: "6", alone: linear.Accepted,
			given: []asked{paid1}, winner: asksRefund(key1, "R1", 60).with(child(key1, 60)),
			loser: asksRefund(key1, "R2", 60).instead(childrenRefund(key1, 60)), says: "was told: Applied PAID 4",
		},
		{
			name: "an insert that did nothing is a creation", of: "7", alone: linear.Accepted,
			winner: asksCreate(key1), loser: asksCreate(key1).instead(createIsDone(key1)), says: "was told: Applied PENDING 1",
		},
		{
			name: "lock and judge in one statement", of: "8", alone: linear.Accepted,
			winner: asks("pay", order.Pay, key1), loser: asks("expire", order.Expire, key1).instead(lockAndJudgeInOne(key1)), says: "was told: Applied CANCELLED 3",
		},
		{
			name: "lock, then judge, in a snapshot", of: "8", late: true, isolation: pgx.RepeatableRead, alone: linear.Accepted,
			begun: func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, `SELECT status FROM orders`)
				return err
			},
			winner: paid1, loser: asks("ship", order.Ship, key1).instead(lockThenJudge(key1)), says: "was told: Rejected PENDING 1",
		},
		{
			name: "more than nothing is left", of: "9", alone: linear.Accepted,
			given: []asked{paid1}, winner: asksRefund(key1, "R1", 60),
			loser: asksRefund(key1, "R2", 60).instead(moreThanNothing(key1, 60)), says: "was told: Applied PAID 4",
		},
		{
			name: "checked in the program, written by the key", of: "8, 10", alone: linear.Accepted,
			winner: asks("pay", order.Pay, key1), loser: asks("expire", order.Expire, key1).instead(checkThenAct(key1)), says: "was told: Applied CANCELLED 3",
		},
		{
			name: "zero rows are a success", of: "section 3", alone: linear.Accepted,
			winner: paid1, loser: asks("cancel", order.Cancel, key1).instead(zeroRowsIsDone(key1).says("Applied CANCELLED 2")), says: "Applied CANCELLED 2",
		},
	}
}

// with has the call do more.
func (a asked) with(more act) asked {
	call := a.pawl
	a.pawl = func(ctx context.Context, db fsm.DB) (order.Result, error) {
		r, err := call(ctx, db)
		if err == nil {
			_, err = more(ctx, db)
		}
		return r, err
	}
	return a
}

// The checker refuses what each broken engine tells of a race, and accepts what Pawl
// tells of the same one. Alone, most broken engines are right.
func TestBrokenEnginesAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`CREATE TABLE parts (order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE, cents bigint NOT NULL)`)
	s.exec(`ALTER TABLE orders DROP CONSTRAINT orders_refund_cents_check`) // it would catch what "more than nothing" does
	for _, g := range engines() {
		t.Run(g.of+" "+g.name, func(t *testing.T) {
			s := &shop{t, s.pool}
			v := g.run(s, false, false)
			require.Equal(t, linear.Accepted, v.Result(), "Pawl: %s", v.Findings())
			require.Zero(t, v.Either)
			v = g.run(s, true, true)
			require.Equal(t, g.alone, v.Result(), "alone: %s", v.Findings())
			v = g.run(s, true, false)
			require.Equal(t, linear.Refused, v.Result(), "%s", v.Summary())
			require.Contains(t, v.Findings(), g.says)
			t.Log(v.Findings())
		})
	}
}

// What is wrong without a race: design 4, facts 6, 10, 11 and 14.
func TestBrokenEnginesAloneAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("6 a guard that is NULL leaves no trace", func(t *testing.T) {
		t.Parallel()
		for _, naive := range []bool{false, true} {
			s := refundingOfUnknown(t)
			var history bytes.Buffer
			rec := record.New(&history, "order")
			table := orders
			require.NoError(t, rec.Began(t.Context(), s.pool, table))
			p := order.RefundSucceededParams{RefundNo: "R1", PaymentNo: "P1", AmountCents: due}
			back := asked{key: key1, event: "refund_succeeded", params: p, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
				return order.RefundSucceeded(ctx, db, key1, p)
			}, naive: lostTrace(key1, "R1")}
			s.must(back.by(rec, "provider", naive), back.by(rec, "provider again", naive))
			require.NoError(t, rec.Found(t.Context(), s.pool, table))
			s.requires(&history, naive, "was told: Compensated REFUNDING 2")
		}
	})
	t.Run("10 somebody writes around the machine", func(t *testing.T) {
		t.Parallel()
		for _, naive := range []bool{false, true} {
			s := open(t)
			var history bytes.Buffer
			rec := record.New(&history, "order")
			s.must(asksCreate(key1).by(rec, "customer", false))
			if naive { // an edge that is legal, and no history
				s.exec(`UPDATE orders SET status = 'PAYING', version = version + 1`)
			}
			require.NoError(t, rec.Found(t.Context(), s.pool, orders))
			s.requires(&history, naive, "saw: PAYING 2")
		}
	})
	t.Run("11 two facts of one row in one statement", func(t *testing.T) {
		t.Parallel()
		for _, naive := range []bool{false, true} {
			s := open(t)
			var history bytes.Buffer
			rec := record.New(&history, "order")
			s.must(asksCreate(key1).by(rec, "customer", false))
			items := []order.PaymentSucceededItem{
				{Key: key1, Params: order.PaymentSucceededParams{PaymentNo: "P1", PaidCents: due}},
				{Key: key1, Params: order.PaymentSucceededParams{PaymentNo: "P2", PaidCents: due}},
			}
			var calls []*record.Pending
			for _, item := range items {
				calls = append(calls, rec.Invoke("batch", item.Key, "payment_succeeded", item.Params))
			}
			if naive {
				s.paysBoth(calls)
			} else {
				results, err := order.PaymentSucceededBatch(t.Context(), s.pool, items)
				require.NoError(t, err)
				for i, r := range results {
					record.Returned(calls[i], r.Result, r.Err)
				}
			}
			require.NoError(t, rec.Found(t.Context(), s.pool, orders))
			s.requires(&history, naive, "was told: Applied PAID 2")
		}
	})
	t.Run("14 one fact in two spellings", func(t *testing.T) {
		t.Parallel()
		for _, naive := range []bool{false, true} {
			s := open(t)
			var history bytes.Buffer
			rec := record.New(&history, "order")
			paid := asksPaid(key1, "P1", due)
			s.must(asksCreate(key1).by(rec, "customer", false),
				paid.instead(byItsBody(key1, `{"payment_no": "P1", "paid_cents": 100}`)).by(rec, "provider", naive),
				paid.instead(byItsBody(key1, `{"payment_no": "P1", "paid_cents": 100}`)).by(rec, "provider, the same text", naive),
				paid.instead(byItsBody(key1, `{"paid_cents": 100, "payment_no": "P1"}`)).by(rec, "provider, another text", naive))
			require.NoError(t, rec.Found(t.Context(), s.pool, orders))
			s.requires(&history, naive, "was told: Compensated PAID 2")
		}
	})
}

// Who forgets that a machine keeps no facts, or keeps them elsewhere, is told which field says so.
func TestATableBesideTheRowsThatThereIsNot(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, c := range []struct {
		table func(*record.Table)
		says  string
	}{
		{func(t *record.Table) { t.Facts = "nowhere" }, "Table.Facts names another, Table.NoFacts says that there is none"},
		{func(t *record.Table) { t.History = "nowhere" }, "Table.History names another"},
	} {
		table := orders
		c.table(&table)
		rec := record.New(&bytes.Buffer{}, "order")
		for _, err := range []error{rec.Began(t.Context(), s.pool, table), rec.Found(t.Context(), s.pool, table)} {
			require.ErrorContains(t, err, `relation "nowhere" does not exist`)
			require.ErrorContains(t, err, "; "+c.says)
		}
	}
	table := orders
	table.Name = "nowhere"
	err := record.New(&bytes.Buffer{}, "order").Found(t.Context(), s.pool, table)
	require.ErrorContains(t, err, `relation "nowhere" does not exist`)
	require.NotContains(t, err.Error(), "Table.")
}

// requires compares the verdict.
func (s *shop) requires(history *bytes.Buffer, naive bool, says string) {
	s.t.Helper()
	v := s.verdict(history)
	if !naive {
		require.Equal(s.t, linear.Accepted, v.Result(), "%s", v.Findings())
		return
	}
	require.Equal(s.t, linear.Refused, v.Result())
	require.Contains(s.t, v.Findings(), says)
	s.t.Log(v.Findings())
}

// paysBoth moves a row by two payments at once. The row takes one of them, and both are
// recorded and told.
func (s *shop) paysBoth(calls []*record.Pending) {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `WITH asked AS (
		SELECT * FROM (VALUES ($1::uuid, 'P1'), ($1::uuid, 'P2')) AS a (order_id, no)
		), fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'payment_succeeded', a.no, a.order_id, '100', 'Applied', 'PENDING', 'PAID', 2, now() FROM asked AS a
		ON CONFLICT DO NOTHING RETURNING order_id, identity
		), moved AS (
		UPDATE orders AS o SET status = 'PAID', version = o.version + 1, paid_cents = 100, payment_no = f.identity
		FROM fact AS f WHERE o.order_id = f.order_id AND o.status IN ('PENDING', 'PAYING')
		RETURNING o.order_id, o.version
		), history AS (
		INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
		SELECT order_id, version, 'payment_succeeded', 'PENDING', 'PAID', now() FROM moved
		), emitted AS (
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', order_id::text, version, 'payment_succeeded', 'order_paid', '{}', now() FROM moved)
		SELECT format('Applied PAID %s', m.version) FROM fact AS f JOIN moved AS m ON m.order_id = f.order_id`, string(key1))
	require.NoError(s.t, err)
	answers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	require.Len(s.t, answers, len(calls))
	for i, text := range answers {
		calls[i].Answered(answerOf(text))
	}
}
