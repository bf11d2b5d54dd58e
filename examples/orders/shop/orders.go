package shop

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// orderView is an order as callers see it.
type orderView struct {
	OrderID string      `json:"order_id"`
	State   order.State `json:"state"`
	Label   labelView   `json:"label"`
	Version int64       `json:"version"`
	// Allowed are the events that can move the order now: a page's buttons.
	Allowed       []order.Event `json:"allowed"`
	CustomerID    string        `json:"customer_id"`
	SKU           string        `json:"sku"`
	Quantity      int32         `json:"quantity"`
	TotalCents    int64         `json:"total_cents"`
	PaidCents     int64         `json:"paid_cents"`
	RefundCents   int64         `json:"refund_cents"`
	RefundedCents int64         `json:"refunded_cents"`
	PaymentNo     *string       `json:"payment_no"`
	PaidAt        *time.Time    `json:"paid_at"`
	DeadlineAt    *time.Time    `json:"deadline_at"`
}

type labelView struct {
	ZH string `json:"zh"`
	EN string `json:"en"`
}

func viewOf(r order.Row) orderView {
	allowed := order.Allowed(r.Status)
	if allowed == nil {
		allowed = []order.Event{} // a page wants a list
	}
	return orderView{
		OrderID: string(r.OrderID), State: r.Status, Version: r.Version, Allowed: allowed,
		Label:      labelView{ZH: r.Status.Label("zh"), EN: r.Status.Label("en")},
		CustomerID: r.CustomerID, SKU: r.Sku, Quantity: r.Quantity, TotalCents: r.TotalCents,
		PaidCents: r.PaidCents, RefundCents: r.RefundCents, RefundedCents: r.RefundedCents,
		PaymentNo: r.PaymentNo, PaidAt: r.PaidAt, DeadlineAt: r.DeadlineAt,
	}
}

// writeOrder sends an order; its ETag is what If-Match takes.
func writeOrder(w http.ResponseWriter, status int, row order.Row) error {
	w.Header().Set("ETag", strconv.Quote(strconv.FormatInt(row.Version, 10)))
	return writeJSON(w, status, viewOf(row))
}

// createOrder takes a new order under the client's own key, so that a request
// sent twice makes one order.
func (s *Service) createOrder(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		OrderID    string `json:"order_id"`
		CustomerID string `json:"customer_id"`
		SKU        string `json:"sku"`
		Quantity   int32  `json:"quantity"`
		TotalCents int64  `json:"total_cents"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	var f fields
	id := f.uuid("order_id", body.OrderID)
	f.text("customer_id", body.CustomerID)
	f.text("sku", body.SKU)
	f.between("quantity", int64(body.Quantity), 1, maxPieces)
	f.between("total_cents", body.TotalCents, 1, maxCents)
	if f.err != nil {
		return f.err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return err
	}
	result, err := order.Create(r.Context(), s.db(r.Context()), order.CreateParams{
		Key: order.Key(id), CustomerID: body.CustomerID, Sku: body.SKU,
		Quantity: body.Quantity, TotalCents: body.TotalCents,
	}, options...)
	if err != nil {
		return err
	}
	s.did(r.Context(), tally{{Machine: "order", Event: "create", Outcome: result.Outcome}})
	if err := result.Err(); err != nil {
		return err
	}
	status := http.StatusOK
	if result.Outcome == fsm.Applied {
		status = http.StatusCreated
		w.Header().Set("Location", "/orders/"+id)
	}
	return writeOrder(w, status, result.Row)
}

func (s *Service) getOrder(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	version, err := atLeast(r)
	if err != nil {
		return err
	}
	row, err := s.readOrder(r.Context(), order.Key(id), version)
	if err != nil {
		return err
	}
	if !row.Status.Valid() {
		return &fsm.UnknownStateError{Machine: "order", State: string(row.Status)}
	}
	return writeOrder(w, http.StatusOK, row)
}

// call is an order's event without parameters, as the generated package has it.
type call func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error)

// fireSimple fires an event that has no effects beside the transition; result is
// not refused when the error is nil.
func (s *Service) fireSimple(r *http.Request, event order.Event, fire call) (order.Result, error) {
	id, err := pathID(r)
	if err != nil {
		return order.Result{}, err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return order.Result{}, err
	}
	result, err := fire(r.Context(), s.pool, order.Key(id), options...)
	if err != nil {
		return order.Result{}, err
	}
	s.counters.outcome("order", string(event), result.Outcome)
	return result, result.Err()
}

// cancelOrder answers 204 however often it is asked: what the caller wants is so.
func (s *Service) cancelOrder(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.fireSimple(r, order.EventCancel, order.Cancel); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Service) shipOrder(w http.ResponseWriter, r *http.Request) error {
	result, err := s.fireSimple(r, order.EventShip, order.Ship)
	if err != nil {
		return err
	}
	return writeOrder(w, http.StatusOK, result.Row)
}

func (s *Service) receiveOrder(w http.ResponseWriter, r *http.Request) error {
	result, err := s.fireSimple(r, order.EventReceive, order.Receive)
	if err != nil {
		return err
	}
	return writeOrder(w, http.StatusOK, result.Row)
}
