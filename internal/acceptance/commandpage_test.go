package acceptance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about idempotent commands. What it promises of the handlers
// is tested in commandpagerun_test.go.
var _ = []any{pageMiddleware, pageInTx, pageLeased, pageLeasedHandler, pageStatus, pageSweep}

// user is whom the page's authentication found.
type user struct{ Tenant, ID string }

// charging is the page's provider: Charge takes money once for each number of ours,
// and Find says what became of one. Both return the provider's number of the payment.
type charging interface {
	Charge(ctx context.Context, number string, cents int64) (paymentNo string, err error)
	Find(ctx context.Context, number string) (paymentNo string, err error)
}

var (
	errDeclined = errors.New("declined")
	errNoCharge = errors.New("there is no such charge")
)

// openCase is the page's word for a person's work.
func openCase(ctx context.Context, tx pgx.Tx, id order.Key, paymentNo string, why error) error {
	_, err := tx.Exec(ctx, `INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail)
		VALUES ('page', $1, $2, 'payment_succeeded', 'Mismatched', $3) ON CONFLICT DO NOTHING`, paymentNo, string(id), why.Error())
	return err
}

// who finds out who sends a request.
type who interface{ From(context.Context) user }

func pageMiddleware(mux *http.ServeMux, pool *pgxpool.Pool, auth who) error {
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
			refuse(w, err)
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

// refuse answers the error of a call. What is below 500 is kept, and is what the same request gets from then on.
func refuse(w http.ResponseWriter, err error) {
	var pg *pgconn.PgError
	status := http.StatusServiceUnavailable // it may pass: send the same request again
	switch {
	case errors.Is(err, fsm.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, fsm.ErrArgument):
		status = http.StatusBadRequest
	case errors.Is(err, fsm.ErrUnknown), fsm.Retryable(err), !errors.As(err, &pg):
	case strings.HasPrefix(pg.Code, "22"), strings.HasPrefix(pg.Code, "23"): // a value is out of range, or breaks a constraint: a CHECK, say
		status = http.StatusUnprocessableEntity
	default: // a table or a right is missing: it passes when somebody has looked
		status = http.StatusInternalServerError
	}
	http.Error(w, http.StatusText(status), status) // the error's own text is for the log
}

// charge takes the money of an order, once. The order comes first, so that there is a row that says so before money moves.
func charge(ctx context.Context, pool *pgxpool.Pool, provider charging, id order.Key) (paymentNo string, cents int64, err error) {
	asked, err := order.Pay(ctx, pool, id) // PAYING; Replayed where an earlier run came so far
	if err != nil {
		return "", 0, err // there is no such order, say
	}
	number, cents := "order/"+string(id), asked.Row.TotalCents // both the same in every run
	if asked.Err() == nil {
		paymentNo, err = provider.Charge(ctx, number, cents)
	} else { // not to be paid now; but an earlier run may have taken money, and died before it said so
		paymentNo, err = provider.Find(ctx, number)
	}
	return paymentNo, cents, err
}

// settle books money that was taken, and says what the customer is told.
func settle(ctx context.Context, tx pgx.Tx, id order.Key, paymentNo string, cents int64) (status int, words string, err error) {
	result, err := order.PaymentSucceeded(ctx, tx, id, order.PaymentSucceededParams{PaymentNo: paymentNo, PaidCents: cents})
	first := result.Transition // what this payment did when it was first told, by us or by a callback
	switch {
	case err != nil:
		return 0, "", err
	case result.Err() != nil: // Mismatched: the payment is another order's, or known with another amount
		return http.StatusConflict, "somebody looks into it", openCase(ctx, tx, id, paymentNo, result.Err())
	case first.Outcome == fsm.Applied && first.To == order.StatePaid:
		return http.StatusCreated, "paid", nil
	}
	return http.StatusConflict, "it was not to be paid any more, and the money goes back", nil // emitted: refund_due
}

func pageLeased(ctx context.Context, pool *pgxpool.Pool, request command.Request, provider charging, id order.Key) (command.Answer, error) {
	pay := &command.Command{Name: "orders.charge", Lease: 30 * time.Second}
	answer, err := pay.DoLeased(ctx, pool, request, func(ctx context.Context, lease *command.Lease) (reply command.Reply, err error) {
		paymentNo, cents, err := charge(ctx, pool, provider, id) // ctx ends when the lease is lost
		if err != nil {
			return reply, err // not kept; a whole handler, below, keeps what is final
		}
		// The money has moved: what follows must not end with the caller.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			status, words, err := settle(ctx, tx, id, paymentNo, cents)
			if err != nil {
				return err
			}
			reply = command.Reply{Status: status, Body: []byte(words)} // of this run of the transaction
			return lease.CompleteTx(ctx, tx, reply)
		})
		return reply, err
	})
	return answer, err
}

func pageLeasedHandler(pool *pgxpool.Pool, provider charging) http.HandlerFunc {
	handler := func(w http.ResponseWriter, r *http.Request) {
		id := order.Key(r.PathValue("id"))
		paymentNo, cents, err := charge(r.Context(), pool, provider, id)
		switch { // no money was taken, as far as anybody knows
		case errors.Is(err, errDeclined):
			http.Error(w, "declined", http.StatusPaymentRequired) // an answer like any: it is kept in a transaction of its own
			return
		case errors.Is(err, errNoCharge):
			http.Error(w, "not to be paid now", http.StatusConflict)
			return
		case err != nil: // a failure is not kept; the next request asks the provider again, under the same number
			refuse(w, err)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 10*time.Second) // also for a client who hung up
		defer cancel()
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			status, words, err := settle(ctx, tx, id, paymentNo, cents)
			if err != nil {
				return err
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, words)
			return commandhttp.CompleteTx(ctx, tx) // last: it keeps what was written until here
		})
		if err != nil { // money was taken and is not booked: whatever the error, nothing final is said
			http.Error(w, "try again", http.StatusServiceUnavailable)
		}
	}
	return handler
}

func pageStatus(ctx context.Context, pool *pgxpool.Pool, pay *command.Command, tenant, key string) (command.Status, error) {
	status, err := pay.Status(ctx, pool, tenant, key) // status.Progress, Since, Reply
	return status, err
}

func pageSweep(ctx context.Context, pool *pgxpool.Pool, pay *command.Command) (int, error) {
	moved, err := pay.Sweep(ctx, pool, 1000) // every few minutes, by each service or by one; for each command
	return moved, err
}
