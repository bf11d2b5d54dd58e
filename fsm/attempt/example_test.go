package attempt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
)

// refundRequest is what the provider is sent, each time the same.
type refundRequest struct {
	PaymentNo   string `json:"payment_no"`
	AmountCents int64  `json:"amount_cents"`
}

// refunds is the provider call that goes with the machine refund.
func refunds(client *http.Client, url string) *attempt.Kind {
	ask := func(ctx context.Context, a attempt.Attempt, method, path string, body []byte) (attempt.Result, error) {
		req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(body))
		if err != nil {
			return attempt.Result{}, err
		}
		req.Header.Set("Idempotency-Key", a.ID) // the attempt's id, never another
		resp, err := attempt.Do(client, req)
		if err != nil {
			return attempt.Result{}, err
		}
		defer func() { _ = resp.Body.Close() }()
		switch {
		case resp.StatusCode == http.StatusAccepted:
			return attempt.Result{}, attempt.ErrPending
		case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
			return attempt.Result{}, attempt.ErrNotThere
		}
		err = attempt.FromStatus(resp.StatusCode)
		switch {
		case err != nil && method == http.MethodGet: // the look-up failed, whatever became of the call
			return attempt.Result{}, fmt.Errorf("look-up: %s", err.Error())
		case err != nil:
			return attempt.Result{}, err
		}
		var said struct {
			Number string `json:"number"`
		}
		err = json.NewDecoder(resp.Body).Decode(&said)
		return attempt.Result{Ref: said.Number}, err
	}
	return &attempt.Kind{
		Name: "refund",
		Call: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			return ask(ctx, a, http.MethodPost, "/refunds", a.Request)
		},
		Query: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			return ask(ctx, a, http.MethodGet, "/refunds/"+a.ID, nil)
		},
		Complete: completeRefund,
		Policy:   attempt.Policy{CallTimeout: 10 * time.Second},
	}
}

// completeRefund tells the machine what became of the attempt. The provider's
// callback may have told it before: then succeed is Replayed, and close Ignored.
func completeRefund(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
	key := refund.Key(a.BusinessKey)
	if a.State == attempt.Refused {
		result, err := refund.Close(ctx, tx, key)
		if err != nil {
			return err
		}
		return result.Err()
	}
	var asked refundRequest
	if err := json.Unmarshal(a.Request, &asked); err != nil {
		return err
	}
	result, err := refund.Succeed(ctx, tx, key, refund.SucceedParams{ProviderRef: a.Result.Ref, AmountCents: asked.AmountCents})
	if err != nil {
		return err
	}
	return result.Err()
}

// sendRefund moves the refund to SENT and starts its attempt, both or neither.
// Called again it is Replayed, and starts nothing.
func sendRefund(ctx context.Context, pool *pgxpool.Pool, kind *attempt.Kind, key refund.Key) error {
	result, err := refund.Send(ctx, pool, key, refund.Then(func(ctx context.Context, tx pgx.Tx, r refund.Result) error {
		request := refundRequest{PaymentNo: r.Row.PaymentNo, AmountCents: r.Row.AmountCents}
		_, _, err := attempt.Start(ctx, tx, kind, string(key), request)
		return err
	}))
	if err != nil {
		return err
	}
	return result.Err()
}

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	kind := refunds(&http.Client{}, "https://provider.example")

	// In a request: the refund is sent, which promises the call.
	if err := sendRefund(ctx, pool, kind, "r-1"); err != nil {
		fmt.Println(err)
		return
	}

	// In a worker, for ever: everything that is due is driven, that one too.
	completer := &attempt.Completer{DB: pool, Kinds: []*attempt.Kind{kind}}
	fmt.Println(completer.Run(ctx))
}
