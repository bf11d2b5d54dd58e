package shop

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/order"
)

type stockView struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// putStock sets an absolute number, so that a request sent twice does no harm. A
// relative one ("+5") is no number here and is refused.
func (s *Service) putStock(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Quantity *int64 `json:"quantity"` // a missing number is not zero
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	sku := r.PathValue("sku")
	var f fields
	f.text("sku", sku)
	if body.Quantity == nil {
		f.refuse("quantity", "is missing")
	} else {
		f.between("quantity", *body.Quantity, 0, maxPieces)
	}
	if f.err != nil {
		return f.err
	}
	err := db.New(s.pool).ShopStockPut(r.Context(), db.ShopStockPutParams{Sku: sku, Quantity: *body.Quantity})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, stockView{SKU: sku, Quantity: *body.Quantity})
}

func (s *Service) getStock(w http.ResponseWriter, r *http.Request) error {
	sku := r.PathValue("sku")
	var f fields
	f.text("sku", sku)
	if f.err != nil {
		return f.err
	}
	quantity, err := db.New(s.pool).ShopStockGet(r.Context(), db.ShopStockGetParams{Sku: sku})
	if errors.Is(err, pgx.ErrNoRows) {
		return &statusError{status: http.StatusNotFound, detail: "there is no such article"}
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, stockView{SKU: sku, Quantity: quantity})
}

// outOfStock is the outcome of a case, beside those of calls.
const outOfStock fsm.Outcome = "OutOfStock"

// paidEffects does what a paid order does beside its transition, in the
// transition's transaction: pieces out of stock, and points, one for each whole
// unit of money. A late payment of a cancelled order has no effects: all of it
// goes back.
//
// When stock lacks, the order stays PAID all the same and a person gets a case,
// in this transaction. The money has been taken, whatever is answered here:
// refusing the callback would leave it with an order that says "not paid", which
// its deadline or its customer then cancels, and have the provider call until it
// gives up. A person can buy more, or refund.
func paidEffects(ctx context.Context, tx pgx.Tx, paid order.Result, from origin) error {
	if paid.State != order.StatePaid {
		return nil
	}
	row, q := paid.Row, db.New(tx)
	// The order's row is locked, then the one row of stock, in every path; the
	// statement's own quantity >= n decides, and the table's CHECK stands behind.
	taken, err := q.ShopStockTake(ctx, db.ShopStockTakeParams{
		OrderID: string(row.OrderID), Sku: row.Sku, Quantity: int64(row.Quantity),
	})
	if err != nil {
		return err
	}
	if taken == 0 {
		detail := "the order is paid and there are too few pieces of its article: buy more, or refund"
		if err := openCase(ctx, tx, from, string(row.OrderID), string(order.EventPaymentSucceeded), outOfStock, detail); err != nil {
			return err
		}
	}
	return q.ShopPointsAdd(ctx, db.ShopPointsAddParams{
		OrderID: string(row.OrderID), CustomerID: row.CustomerID, Points: row.PaidCents / 100,
	})
}

// openCase records for a person what came of a delivery; the same again does
// nothing.
func openCase(ctx context.Context, tx pgx.Tx, from origin, orderID, event string, outcome fsm.Outcome, detail string) error {
	return db.New(tx).ShopCaseOpen(ctx, db.ShopCaseOpenParams{
		Provider: from.provider, DeliveryID: from.delivery, OrderID: orderID,
		Event: event, Outcome: string(outcome), Detail: detail,
	})
}
