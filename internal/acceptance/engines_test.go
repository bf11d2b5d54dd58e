package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
)

// asked is a call with all that a history keeps of it, and two who can answer it.
type asked struct {
	key    order.Key
	event  string
	params any
	// options are those that pawl gives the call.
	options []fsm.Option
	pawl    func(context.Context, fsm.DB) (order.Result, error)
	// naive answers OUTCOME STATE VERSION.
	naive act
}

// by makes the call and records it, answered by Pawl or by the other.
func (a asked) by(rec record.Calls, client string, naive bool) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		if !naive {
			r, err := record.Call(rec, client, a.key, a.event, a.params, func() (order.Result, error) { return a.pawl(ctx, db) }, a.options...)
			return told(r), err
		}
		p := rec.Invoke(client, a.key, a.event, a.params, a.options...)
		text, err := a.naive(ctx, db)
		var pg *pgconn.PgError
		switch {
		case err == nil:
			p.Answered(answerOf(text))
		case errors.As(err, &pg): // as a careful person would tell it
			p.Failed(fsm.ErrNothingDone)
		default:
			p.Failed(err)
		}
		return text, err
	}
}

// answerOf reads what a naive engine says. Of transitions it says nothing.
func answerOf(text string) record.Answer {
	var a record.Answer
	if _, err := fmt.Sscan(text, &a.Outcome, &a.State, &a.Version); err != nil {
		panic(fmt.Sprintf("%q is no answer: %v", text, err))
	}
	return a
}

// instead is the call with another to answer it.
func (a asked) instead(naive act) asked {
	a.naive = naive
	return a
}

// asks is a call of an event without parameters.
func asks(name string, fire func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error), key order.Key) asked {
	return asked{key: key, event: name, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) { return fire(ctx, db, key) }}
}

func asksCreate(key order.Key) asked {
	return asked{key: key, event: "create", params: newOrder(key), pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
		return order.Create(ctx, db, newOrder(key))
	}}
}

func asksPaid(key order.Key, no string, cents int64) asked {
	p := order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents}
	return asked{key: key, event: "payment_succeeded", params: p, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
		return order.PaymentSucceeded(ctx, db, key, p)
	}}
}

func asksRefund(key order.Key, no string, cents int64, options ...fsm.Option) asked {
	p := order.RefundParams{RefundNo: no, AmountCents: cents}
	return asked{key: key, event: "refund", params: p, options: options, pawl: func(ctx context.Context, db fsm.DB) (order.Result, error) {
		return order.Refund(ctx, db, key, p, options...)
	}}
}

// orders is where the machine keeps its rows, for the look at the end.
var orders = record.Table{Name: "orders", Key: []string{"order_id"}, Outbox: true,
	Columns: []string{"quantity", "total_cents", "paid_cents", "refund_cents", "refunded_cents", "payment_no"}}

// staged is a race that is recorded: winner holds its locks until the loser waits for
// them, or, with late, is done before the loser calls.
type staged struct {
	name string
	// of says which fact of the design it stages.
	of            string
	given         []asked
	winner, loser asked
	// begun is what the loser's transaction has done before the winner was there.
	begun     func(context.Context, pgx.Tx) error
	isolation pgx.TxIsoLevel
	late      bool
	// books says that the naive engine keeps history, facts and outbox too, so that all
	// of it is looked at in the end.
	books bool
	// alone is what the naive engine's calls are without a race.
	alone linear.Result
	// says is a part of what is told of the refusal.
	says string
}

// run plays the race, and returns the verdict.
func (g staged) run(s *shop, naive, alone bool) *linear.Verdict {
	s.t.Helper()
	ctx := s.t.Context()
	s.again()
	var history bytes.Buffer
	rec := record.New(&history, "order")
	for _, a := range append([]asked{asksCreate(key1), asksCreate(key2)}, g.given...) {
		if g.creates() && a.event == "create" {
			continue
		}
		_, err := a.by(rec, "given", false)(ctx, s.pool)
		require.NoError(s.t, err)
	}
	switch {
	case alone:
		s.must(g.loser.by(rec, "loser", naive))
	case g.late:
		g.runLate(s, rec, naive)
	default:
		tx := rec.Begin()
		held := s.begin(pgx.TxOptions{})
		_, err := g.winner.by(tx, "winner", false)(ctx, held)
		require.NoError(s.t, err)
		conn := s.conn()
		done := start(ctx, conn, g.loser.by(rec, "loser", naive))
		waitUntilBlocked(s.t, s.pool, pidOf(conn), done)
		tx.Ended(held.Commit(ctx))
		_ = finish(s.t, done) // an error is an answer, and recorded
	}
	if g.books || !naive {
		require.NoError(s.t, rec.Found(ctx, s.pool, orders))
	} else {
		s.looks(rec)
	}
	require.NoError(s.t, rec.Err())
	return s.verdict(&history)
}

// creates reports whether the race is about the creation.
func (g staged) creates() bool { return g.winner.event == "create" }

// runLate lets the winner be told before the loser calls.
func (g staged) runLate(s *shop, rec *record.Recorder, naive bool) {
	s.t.Helper()
	ctx := s.t.Context()
	tx := rec.Begin()
	open := s.begin(isolated(g.isolation))
	if g.begun != nil {
		require.NoError(s.t, g.begun(ctx, open))
	}
	_, err := g.winner.by(rec, "winner", false)(ctx, s.pool)
	require.NoError(s.t, err)
	_, err = g.loser.by(tx, "loser", naive)(ctx, open)
	require.NoError(s.t, err)
	tx.Ended(open.Commit(ctx))
}

// looks records state and version of the orders, as somebody sees them who knows no books.
func (s *shop) looks(rec *record.Recorder) {
	s.t.Helper()
	for _, key := range []order.Key{key1, key2} {
		_, err := rec.Read("end", key, func() (record.Row, error) {
			row, err := order.Get(s.t.Context(), s.pool, key)
			if errors.Is(err, fsm.ErrNotFound) {
				return record.Row{Gone: true}, nil
			}
			return record.Row{State: string(row.Status), Version: row.Version}, err
		})
		require.NoError(s.t, err)
	}
}

// verdict checks a history of orders.
func (s *shop) verdict(history *bytes.Buffer) *linear.Verdict {
	s.t.Helper()
	h, err := linear.NewHistory(orderMachine(s.t))
	require.NoError(s.t, err)
	require.NoError(s.t, h.Read(bytes.NewReader(history.Bytes()), "history"))
	v, err := linear.Check(s.t.Context(), h, linear.Options{})
	require.NoError(s.t, err)
	return v
}

func orderMachine(t testing.TB) *model.Machine {
	t.Helper()
	text, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	return machineOf(t, string(text))
}
