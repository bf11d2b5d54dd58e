package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/attempt/attemptriver"
	"github.com/pawl-go/pawl/gen/refund"
)

// The code of the page about calls to providers. It is in a package of its own, since
// refund is another word in that beside it.
var _ = []any{pageSend, pageKind, pageResume, pageAttemptBeside, pageRiver, pageRiverStart}

// refundRequest is what the provider is sent, each time the same.
type refundRequest struct {
	PaymentNo   string `json:"payment_no"`
	AmountCents int64  `json:"amount_cents"`
}

func pageSend(ctx context.Context, pool *pgxpool.Pool, refunds *attempt.Kind, key refund.Key) error {
	result, err := refund.Send(ctx, pool, key, refund.Then(func(ctx context.Context, tx pgx.Tx, r refund.Result) error {
		_, _, err := attempt.Start(ctx, tx, refunds, string(key), refundRequest{r.Row.PaymentNo, r.Row.AmountCents})
		return err
	}))
	if err == nil {
		err = result.Err() // refused: nothing was started, and somebody has to know
	}
	return err
}

// ask sends one request of an attempt, and says what is known afterwards.
func ask(ctx context.Context, client *http.Client, a attempt.Attempt, method, url string, body []byte) (none attempt.Result, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return none, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", a.ID) // the attempt's id, never another
	resp, err := attempt.Do(client, req)
	if err != nil {
		return none, err // ErrNotSent where that is certain, otherwise not known
	}
	defer func() { _ = resp.Body.Close() }()
	switch lookUp := method == http.MethodGet; {
	case resp.StatusCode == http.StatusAccepted:
		return none, attempt.ErrPending // accepted, and not done
	case lookUp && resp.StatusCode == http.StatusNotFound:
		return none, attempt.ErrNotThere
	case lookUp && resp.StatusCode != http.StatusOK:
		return none, fmt.Errorf("look-up: http %d", resp.StatusCode) // it failed, whatever became of the call
	}
	if err := attempt.FromStatus(resp.StatusCode); err != nil {
		return none, err // refused, or not known
	}
	var said struct {
		Number string `json:"number"`
		Status string `json:"status"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return none, err
	}
	switch said.Status { // the provider's words, from its documents
	case "succeeded":
		return attempt.Result{Ref: said.Number}, nil
	case "failed":
		return none, attempt.Refuse("failed")
	}
	return none, attempt.ErrPending
}

// complete tells the machine what became of the attempt. Where the callback was faster, succeed is Replayed and close Ignored.
func complete(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
	if a.State == attempt.Refused {
		result, err := refund.Close(ctx, tx, refund.Key(a.BusinessKey))
		if err != nil {
			return err
		}
		return result.Err() // another refusal: tried again, and at last stuck, for a person
	}
	var asked refundRequest
	if err := json.Unmarshal(a.Request, &asked); err != nil {
		return err
	}
	result, err := refund.Succeed(ctx, tx, refund.Key(a.BusinessKey), refund.SucceedParams{ProviderRef: a.Result.Ref, AmountCents: asked.AmountCents})
	if err != nil {
		return err
	}
	return result.Err()
}

func pageKind(client *http.Client, url string, log *slog.Logger) *attempt.Kind {
	refunds := &attempt.Kind{
		Name: "refund",
		Call: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			return ask(ctx, client, a, http.MethodPost, url+"/refunds", a.Request)
		},
		Query: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			return ask(ctx, client, a, http.MethodGet, url+"/refunds/"+a.ID, nil)
		},
		Complete: complete,
		Notify:   func(n attempt.Notice) { log.Info("attempt", "kind", n.Kind, "id", n.ID, "what", n.What, "err", n.Err) },
		Policy:   attempt.Policy{CallTimeout: 10 * time.Second},
	}
	return refunds
}

func pageResume(ctx context.Context, pool *pgxpool.Pool, key refund.Key, id string) error {
	result, err := refund.Retry(ctx, pool, key, refund.Then(func(ctx context.Context, tx pgx.Tx, _ refund.Result) error {
		return attempt.Resume(ctx, tx, id, fsm.Correction{Actor: "ann", Reason: "the provider is back"})
	}))
	if err == nil {
		err = result.Err() // refused: the refund was not ABNORMAL, and nothing was resumed
	}
	return err
}

func pageAttemptBeside(ctx context.Context, pool *pgxpool.Pool, kinds []*attempt.Kind) {
	go (&attempt.Completer{DB: pool, Kinds: kinds}).Run(ctx) // drives what is due, and takes over from the dead
	go (&attempt.Sweeper{DB: pool, Kinds: kinds}).Run(ctx)   // archives what was completed Policy.Keep (30 days) ago
}

func pageRiver(ctx context.Context, pool *pgxpool.Pool, workers *river.Workers, config *river.Config, kinds ...*attempt.Kind) error {
	if err := attemptriver.Migrate(ctx, pool); err != nil { // River's own tables; or river migrate-get
		return err
	}
	if err := attemptriver.AddWorkers(workers, pool, kinds...); err != nil {
		return err
	}
	config.PeriodicJobs = append(config.PeriodicJobs, attemptriver.Periodic(time.Minute))
	return nil
}

func pageRiverStart(ctx context.Context, client *river.Client[pgx.Tx], tx pgx.Tx, refunds *attempt.Kind, request refundRequest) (attempt.Attempt, bool, error) {
	a, started, err := attemptriver.Start(ctx, client, tx, refunds, "r-1", request) // attempt and job in one transaction
	return a, started, err
}
