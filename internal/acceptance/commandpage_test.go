package acceptance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about idempotent commands.
var _ = []any{pageMiddleware, pageInTx, pageLeased, pageLeasedHandler, pageSweep}

// user is whom the page's authentication found.
type user struct{ Tenant, ID string }

type authentication struct{}

func (authentication) From(context.Context) user { return user{} }

// charging is the page's call to a provider, which returns the payment's number.
type charging func(ctx context.Context, orderID string, cents int64) (string, error)

var errDeclined = errors.New("declined")

func pageMiddleware(mux *http.ServeMux, pool *pgxpool.Pool, auth authentication) error {
	once, err := commandhttp.New(commandhttp.Options{
		Command: &command.Command{Name: "orders.pay", Retention: 72 * time.Hour},
		DB:      pool,
		Caller: func(r *http.Request) (commandhttp.Caller, error) {
			user := auth.From(r.Context()) // whoever your authentication found
			return commandhttp.Caller{Scope: user.Tenant, Principal: user.ID}, nil
		},
	})

	mux.Handle("POST /orders/{id}/pay", once(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tx, _ := commandhttp.Tx(r.Context())
		result, err := order.Pay(r.Context(), tx, order.Key(r.PathValue("id")))
		switch {
		case err != nil:
			http.Error(w, "try again", http.StatusServiceUnavailable) // not kept
		case result.Err() != nil:
			http.Error(w, "not to be paid now", http.StatusConflict) // kept
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})))
	return err
}

func pageInTx(ctx context.Context, pool *pgxpool.Pool, tenant, user, key string, body []byte) (command.Answer, error) {
	pay := &command.Command{Name: "orders.pay"}
	request := command.Request{
		Scope: tenant, Key: key, Principal: user, Method: "POST", Path: "/orders/17/pay",
		ContentType: "application/json", Body: body,
	}
	answer, err := pay.Do(ctx, pool, request, func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		result, err := order.Pay(ctx, tx, "17")
		if err != nil {
			return command.Reply{}, err // nothing is kept
		}
		if result.Err() != nil {
			return command.Reply{Status: 409, Body: []byte(result.Outcome)}, nil // a refusal is kept as well
		}
		return command.Reply{Status: 200, Body: []byte(result.Outcome)}, nil
	})
	return answer, err
}

func pageLeased(ctx context.Context, pool *pgxpool.Pool, request command.Request, provider charging, cents int64) (command.Answer, error) {
	charge := &command.Command{Name: "orders.charge", Lease: 30 * time.Second}
	answer, err := charge.DoLeased(ctx, pool, request, func(ctx context.Context, lease *command.Lease) (reply command.Reply, err error) {
		paymentNo, err := provider(ctx, "17", cents) // ctx ends when the lease is lost
		if err != nil {
			return reply, err
		}
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			result, err := order.PaymentSucceeded(ctx, tx, "17", order.PaymentSucceededParams{PaymentNo: paymentNo, PaidCents: cents})
			if err != nil {
				return err
			}
			reply = command.Reply{Status: 200, Body: []byte(result.Outcome)} // of this run of the transaction
			return lease.CompleteTx(ctx, tx, reply)
		})
		return reply, err
	})
	return answer, err
}

func pageLeasedHandler(pool *pgxpool.Pool, provider charging, cents int64) http.HandlerFunc {
	handler := func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		paymentNo, err := provider(r.Context(), id, cents)
		switch {
		case errors.Is(err, errDeclined): // an answer like any: it is kept in a transaction of its own
			http.Error(w, "declined", http.StatusPaymentRequired)
			return
		case err != nil: // a failure is not kept; the next request calls again, with the provider's key of before
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		err = fsm.RunTx(r.Context(), pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			result, err := order.PaymentSucceeded(ctx, tx, order.Key(id), order.PaymentSucceededParams{PaymentNo: paymentNo, PaidCents: cents})
			if err != nil {
				return err
			}
			if result.Outcome == fsm.Compensated { // the order was not to be paid any more: the money goes back
				w.WriteHeader(http.StatusConflict)
			} else {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = io.WriteString(w, string(result.Outcome))
			return commandhttp.CompleteTx(ctx, tx) // last: it keeps what was written until here
		})
		if err != nil { // it was not committed, and the answer above is not sent
			http.Error(w, "try again", http.StatusServiceUnavailable)
		}
	}
	return handler
}

func pageSweep(ctx context.Context, pool *pgxpool.Pool, pay *command.Command) (int, error) {
	moved, err := pay.Sweep(ctx, pool, 1000) // every few minutes, by each service or by one; for each command
	return moved, err
}
