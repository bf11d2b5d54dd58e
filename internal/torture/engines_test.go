package torture

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/torture/load"
)

// The engines of this file are wrong on purpose.
var engines = map[string]load.Engine{
	"asks and then acts":     asksAndActs,
	"answers, then commits":  answersAndCommits,
	"does the effect again":  doesAgain,
	"takes a fact for a new": takesForNew,
}

// call is the call that is right, with its effect.
func call(ctx context.Context, db fsm.DB, p load.Payment, options ...fsm.Option) (order.Result, error) {
	return order.PaymentSucceeded(ctx, db, order.Key(p.Key), order.PaymentSucceededParams{PaymentNo: p.PaymentNo, PaidCents: p.Cents},
		append(options, fsm.Actor("client"), fsm.RequestID(p.RequestID))...)
}

func then(p load.Payment) fsm.Option {
	return order.Then(func(ctx context.Context, tx pgx.Tx, r order.Result) error { return p.Then(ctx, tx, r.Version) })
}

// inTx reports whether the caller has a transaction.
func inTx(db fsm.DB) bool {
	_, ok := db.(pgx.Tx)
	return ok
}

// asksAndActs reads whether the payment is known and what state the order is in, and
// writes by what it read. The database's own triggers stand by and find nothing wrong:
// each edge is a legal one.
func asksAndActs(ctx context.Context, db fsm.DB, p load.Payment) (order.Result, error) {
	if inTx(db) {
		return call(ctx, db, p, then(p))
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return order.Result{}, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrNothingDone, Err: err}
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	unknown := func(err error) (order.Result, error) {
		return order.Result{}, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrUnknown, Err: err}
	}
	var status string
	var known, due bool
	err = tx.QueryRow(ctx, `SELECT status, total_cents = $3, EXISTS (SELECT FROM order_facts WHERE event = 'payment_succeeded' AND identity = $2)
		FROM orders WHERE order_id = $1`, p.Key, p.PaymentNo, p.Cents).Scan(&status, &due, &known)
	if err != nil || known || !due || status != "PENDING" && status != "PAYING" {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return call(ctx, db, p, then(p)) // what it does not know how to do wrong
	}
	var version int64
	err = tx.QueryRow(ctx, `WITH late AS MATERIALIZED (SELECT pg_sleep(0.6)), moved AS (
		UPDATE orders SET status = 'PAID', version = version + 1, paid_cents = $3, payment_no = $2, deadline_at = NULL, deadline_runs = 0
		FROM late WHERE order_id = $1 RETURNING order_id, version
		), history AS (
		INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, request_id, at)
		SELECT order_id, version, 'payment_succeeded', $4, 'PAID', 'client', $5, now() FROM moved
		), fact AS (
		INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		SELECT 'payment_succeeded', $2, order_id, $3::bigint::text, 'Applied', $4, 'PAID', version, now() FROM moved ON CONFLICT DO NOTHING
		), told AS (
		INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', order_id::text, version, 'payment_succeeded', 'order_paid', '{}', now() FROM moved
		) SELECT version FROM moved`, p.Key, p.PaymentNo, p.Cents, status, p.RequestID).Scan(&version)
	if err == nil {
		err = p.Then(ctx, tx, version)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		return unknown(err)
	}
	return order.Result{Outcome: fsm.Applied, State: order.StatePaid, Version: version, Transition: fsm.Transition[order.State]{
		Event: "payment_succeeded", Outcome: fsm.Applied, From: order.State(status), To: order.StatePaid, Version: version,
	}}, nil
}

// answersAndCommits tells the caller what came of it, and then has it come.
func answersAndCommits(ctx context.Context, db fsm.DB, p load.Payment) (order.Result, error) {
	if inTx(db) {
		return call(ctx, db, p, then(p))
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return order.Result{}, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrNothingDone, Err: err}
	}
	r, err := call(ctx, tx, p, then(p))
	go func() {
		time.Sleep(200 * time.Millisecond)
		_ = tx.Commit(context.WithoutCancel(ctx))
	}()
	return r, err
}

// doesAgain repeats a transaction whose COMMIT was lost, and takes the fact that it
// finds then for its own, with an effect that is still to be had.
func doesAgain(ctx context.Context, db fsm.DB, p load.Payment) (order.Result, error) {
	if inTx(db) {
		return call(ctx, db, p, then(p))
	}
	var r order.Result
	for lost := false; ; lost = true {
		tx, err := db.Begin(ctx)
		if err != nil {
			return r, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrUnknown, Err: err}
		}
		if r, err = call(ctx, tx, p); err == nil && (r.Outcome == fsm.Applied || lost && r.Outcome == fsm.Replayed) {
			err = p.Then(ctx, tx, r.Transition.Version)
		}
		if err == nil {
			err = tx.Commit(ctx)
		}
		_ = tx.Rollback(context.WithoutCancel(ctx))
		if err == nil {
			return r, nil
		}
		if errors.Is(err, fsm.ErrNotFound) {
			return order.Result{}, err
		}
		if fsm.Retryable(err) || ctx.Err() != nil {
			return order.Result{}, &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: fsm.ErrUnknown, Err: err}
		}
	}
}

// takesForNew answers Applied whenever the row is as the payment would have it, as
// those do who read zero rows for a success.
func takesForNew(ctx context.Context, db fsm.DB, p load.Payment) (order.Result, error) {
	r, err := call(ctx, db, p, then(p))
	if err == nil && r.Outcome == fsm.Replayed {
		r.Outcome = fsm.Applied
	}
	return r, err
}
