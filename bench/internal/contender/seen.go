package contender

import (
	"encoding/json"
	"time"
)

// seen is what those who judge in Go read of a row.
type seen struct {
	Status     string
	Version    int64
	TotalCents int64
	PaymentNo  *string
}

// duplicate reports whether the order has had this delivery.
func (o seen) duplicate(event Event, d Delivery) bool {
	if event == Pay {
		return o.Status == "PAYING"
	}
	return o.PaymentNo != nil && *o.PaymentNo == d.PaymentNo
}

// legal reports whether the delivery may move the order.
func (o seen) legal(event Event, d Delivery) bool {
	if event == Pay {
		return o.Status == "PENDING"
	}
	return (o.Status == "PENDING" || o.Status == "PAYING") && o.TotalCents == d.Cents
}

// knownOrder is all of a row, and its fact.
type knownOrder struct {
	OrderID       string
	Status        string
	Version       int64
	DeadlineAt    *time.Time
	DeadlineRuns  int32
	CustomerID    string
	Sku           string
	Quantity      int32
	TotalCents    int64
	PaidCents     int64
	RefundCents   int64
	RefundedCents int64
	PaymentNo     *string
	PaidAt        *time.Time
	Fingerprint   *string
	Outcome       *string
	From, To      *string
	FactVersion   *int64
}

// columns are where the columns of knownPaid go.
func (o *knownOrder) columns() []any {
	return []any{
		&o.OrderID, &o.Status, &o.Version, &o.DeadlineAt, &o.DeadlineRuns, &o.CustomerID, &o.Sku, &o.Quantity, &o.TotalCents,
		&o.PaidCents, &o.RefundCents, &o.RefundedCents, &o.PaymentNo, &o.PaidAt, &o.Fingerprint, &o.Outcome, &o.From, &o.To, &o.FactVersion,
	}
}

// payload is what consumers of the outbox get.
func payload(d Delivery, from string, version int64) ([]byte, error) {
	return json.Marshal(map[string]any{
		"machine": "order", "key": d.Key, "version": version, "event": string(Paid), "from": from, "to": "PAID",
		"params": map[string]any{"payment_no": d.PaymentNo, "paid_cents": d.Cents}, "identity": d.PaymentNo,
	})
}
