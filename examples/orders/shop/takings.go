package shop

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/gen/db"
)

// moveTaken is the kind of a move of stock that a till makes, without an order
// of ours.
const moveTaken = "taken"

// takeStock takes pieces by the version of the stock alone, once a purchase:
// 201, told again 200, and 409 when there are too few.
func (s *Service) takeStock(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		PurchaseID string `json:"purchase_id"`
		Quantity   int64  `json:"quantity"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	sku := r.PathValue("sku")
	var f fields
	f.text("sku", sku)
	id := f.uuid("purchase_id", body.PurchaseID)
	f.between("quantity", body.Quantity, 1, maxPieces)
	if f.err != nil {
		return f.err
	}
	fresh, err := s.take(r.Context(), sku, id, body.Quantity)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return writeJSON(w, status, struct {
		PurchaseID string `json:"purchase_id"`
		SKU        string `json:"sku"`
		Quantity   int64  `json:"quantity"`
	}{id, sku, body.Quantity})
}

// take reports whether this call took the pieces, not one before it. Paying an
// order takes them by one statement that computes; this is the other way, for
// what cannot be computed in SQL, and the two get along: each write raises the
// version.
func (s *Service) take(ctx context.Context, sku, purchase string, quantity int64) (fresh bool, err error) {
	err = s.byVersion(ctx, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		q := db.New(tx)
		stock, err := q.ShopStockRead(ctx, db.ShopStockReadParams{Sku: sku})
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, &statusError{status: http.StatusNotFound, detail: "there is no such article"}
		}
		if err != nil {
			return 0, err
		}
		claimed, err := q.ShopStockMoveAdd(ctx, db.ShopStockMoveAddParams{OrderID: purchase, Kind: moveTaken, Sku: sku, Quantity: -quantity})
		if err != nil {
			return 0, err
		}
		if fresh = claimed == 1; !fresh {
			return 1, sameTaking(ctx, q, sku, purchase, quantity)
		}
		if stock.Quantity < quantity {
			return 0, &statusError{status: http.StatusConflict, detail: "there are too few pieces"}
		}
		return q.ShopStockSwap(ctx, db.ShopStockSwapParams{Sku: sku, Quantity: stock.Quantity - quantity, Version: stock.Version})
	})
	return fresh, err
}

// sameTaking refuses a purchase that is told again with other values.
func sameTaking(ctx context.Context, q *db.Queries, sku, purchase string, quantity int64) error {
	m, err := q.ShopStockMoveGet(ctx, db.ShopStockMoveGetParams{OrderID: purchase, Kind: moveTaken})
	if err != nil {
		return err
	}
	if m.Sku != sku || m.Quantity != -quantity {
		return &statusError{status: http.StatusConflict, detail: "this purchase was told before with other values"}
	}
	return nil
}
