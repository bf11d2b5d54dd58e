package storm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/webhook"
)

func (n *Naive) putStock(w http.ResponseWriter, r *http.Request) {
	var body struct{ Quantity int64 }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		tellNaive(w, "", err)
		return
	}
	_, err := n.pool.Exec(r.Context(), "INSERT INTO shop_stock (sku, quantity) VALUES ($1, $2) ON CONFLICT (sku) DO UPDATE SET quantity = EXCLUDED.quantity",
		r.PathValue("sku"), body.Quantity)
	tellNaive(w, "Applied", err)
}

func (n *Naive) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		OrderID    string `json:"order_id"`
		CustomerID string `json:"customer_id"`
		SKU        string `json:"sku"`
		Quantity   int32  `json:"quantity"`
		TotalCents int64  `json:"total_cents"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		tellNaive(w, "", err)
		return
	}
	outcome := "Applied"
	err := pgx.BeginFunc(r.Context(), n.pool, func(tx pgx.Tx) error {
		o := &naiveOrder{tx: tx, id: body.OrderID, now: n.clock(), status: "PENDING", version: 1}
		tag, err := tx.Exec(r.Context(), `INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents)
			VALUES ($1, 'PENDING', 1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			body.OrderID, o.now.Add(payWithin), body.CustomerID, body.SKU, body.Quantity, body.TotalCents)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			outcome = "Replayed"
			return nil
		}
		if _, err := tx.Exec(r.Context(), "INSERT INTO order_history (order_id, version, event, to_status, at) VALUES ($1, 1, 'create', 'PENDING', $2)",
			o.id, o.now); err != nil {
			return err
		}
		return o.emit(r.Context(), "create", "order_created", "", "", map[string]any{"total_cents": body.TotalCents})
	})
	tellNaive(w, outcome, err)
}

// onOrder serves an event of a customer's or the house's.
func (n *Naive) onOrder(event func(context.Context, *naiveOrder) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body naiveBody
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			tellNaive(w, "", err)
			return
		}
		outcome, err := n.inOrder(r.Context(), r.PathValue("id"), func(ctx context.Context, o *naiveOrder) (string, error) {
			o.asked, o.expect = body, r.Header.Get("If-Match")
			return event(ctx, o)
		})
		tellNaive(w, outcome, err)
	}
}

// callback serves a provider.
func (n *Naive) callback(v webhook.Verifier) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			tellNaive(w, "", err)
			return
		}
		if _, err := v.Verify(r.Header, raw, n.clock()); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var told struct {
			ID   string `json:"id"`
			Type string `json:"type"`
			Data struct {
				OrderID string `json:"order_id"`
				naiveBody
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &told); err != nil {
			tellNaive(w, "", err)
			return
		}
		event := map[string]func(context.Context, *naiveOrder) (string, error){
			"payment.succeeded": n.paymentSucceeded, "payment.failed": n.paymentFailed,
			"refund.succeeded": n.refundSucceeded, "refund.failed": n.refundFailed,
		}[told.Type]
		outcome, err := n.inOrder(r.Context(), told.Data.OrderID, func(ctx context.Context, o *naiveOrder) (string, error) {
			o.asked = told.Data.naiveBody
			outcome := "Mismatched"
			foreign, err := o.foreign(ctx)
			if err == nil && !foreign {
				outcome, err = event(ctx, o)
			}
			unpromised := false
			if err == nil && told.Type == "refund.succeeded" && outcome == "Compensated" {
				unpromised, err = o.unpromised(ctx)
			}
			if err == nil && (outcome == "Mismatched" || unpromised) {
				err = o.openCase(ctx, strings.TrimPrefix(r.URL.Path, "/callbacks/"), told.ID, told.Type, outcome)
			}
			return outcome, err
		})
		tellNaive(w, outcome, err)
	}
}

func tellNaive(w http.ResponseWriter, outcome string, err error) {
	status := http.StatusOK
	switch {
	case errors.Is(err, errNaiveNotFound):
		status = http.StatusNotFound
	case err != nil:
		status = http.StatusServiceUnavailable
	case outcome == "Rejected" || outcome == "GuardFailed" || outcome == "Stale":
		status = http.StatusConflict
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"outcome": outcome}) // the status is out
}
