package shop

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/gen/db"
)

// bookingView is a booking and the balance after it, as they were when it was
// made: told again, it is the same, time included.
type bookingView struct {
	BookingNo    string    `json:"booking_no"`
	Cents        int64     `json:"cents"`
	BalanceCents int64     `json:"balance_cents"`
	Version      int64     `json:"version"`
	At           time.Time `json:"at"`
}

type balanceView struct {
	CustomerID string `json:"customer_id"`
	Cents      int64  `json:"cents"`
	Version    int64  `json:"version"`
}

// bookBalance adds to a customer's balance, or takes from it, once a number.
func (s *Service) bookBalance(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		BookingNo string `json:"booking_no"`
		Cents     int64  `json:"cents"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	customer := r.PathValue("id")
	var f fields
	f.text("customer_id", customer)
	f.number("booking_no", body.BookingNo)
	f.between("cents", body.Cents, -maxCents, maxCents)
	if body.Cents == 0 {
		f.refuse("cents", "is zero")
	}
	if f.err != nil {
		return f.err
	}
	view, fresh, err := s.book(r.Context(), customer, body.BookingNo, body.Cents)
	if err != nil {
		return err
	}
	if !fresh {
		return writeJSON(w, http.StatusOK, view)
	}
	return writeJSON(w, http.StatusCreated, view)
}

// book changes the balance by its version alone: read, decide, and write if the
// version is still the one that was read. The booking is claimed in the same
// transaction, so that a number counts once, and a booking that is refused
// leaves no trace and may be tried again when there is more.
func (s *Service) book(ctx context.Context, customer, number string, cents int64) (view bookingView, fresh bool, err error) {
	err = s.byVersion(ctx, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		q := db.New(tx)
		if err := q.ShopBalanceOpen(ctx, db.ShopBalanceOpenParams{CustomerID: customer}); err != nil {
			return 0, err
		}
		balance, err := q.ShopBalanceRead(ctx, db.ShopBalanceReadParams{CustomerID: customer})
		if err != nil {
			return 0, err
		}
		after := balance.Cents + cents
		claimed, err := q.ShopBookingAdd(ctx, db.ShopBookingAddParams{
			CustomerID: customer, BookingNo: number, Cents: cents, BalanceCents: max(after, 0), Version: balance.Version + 1,
		})
		if err != nil {
			return 0, err
		}
		if fresh = claimed == 1; fresh {
			switch {
			case after < 0:
				return 0, &statusError{status: http.StatusConflict, detail: "the balance is too small"}
			case after > maxCents:
				return 0, &statusError{status: http.StatusConflict, detail: "the balance would be too great"}
			}
			written, err := q.ShopBalanceSwap(ctx, db.ShopBalanceSwapParams{CustomerID: customer, Cents: after, Version: balance.Version})
			if err != nil || written == 0 {
				return written, err
			}
		}
		view, err = toldBooking(ctx, q, customer, number, cents)
		return 1, err
	})
	return view, fresh, err
}

// toldBooking returns the booking as it was made, or a conflict when it was made
// for another amount.
func toldBooking(ctx context.Context, q *db.Queries, customer, number string, cents int64) (bookingView, error) {
	k, err := q.ShopBookingGet(ctx, db.ShopBookingGetParams{CustomerID: customer, BookingNo: number})
	if err != nil {
		return bookingView{}, err
	}
	if k.Cents != cents {
		return bookingView{}, &statusError{status: http.StatusConflict, detail: "this number was booked with another amount"}
	}
	return bookingView{number, k.Cents, k.BalanceCents, k.Version, k.At}, nil
}

// putBalance refuses: a balance is what its bookings make it, and "add 5", sent
// twice, would add 10.
func (s *Service) putBalance(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Allow", "GET")
	return &statusError{status: http.StatusMethodNotAllowed, detail: "a balance changes by bookings alone: POST to its bookings, with a number of your own"}
}

func (s *Service) getBalance(w http.ResponseWriter, r *http.Request) error {
	customer := r.PathValue("id")
	var f fields
	f.text("customer_id", customer)
	if f.err != nil {
		return f.err
	}
	b, err := db.New(s.pool).ShopBalanceRead(r.Context(), db.ShopBalanceReadParams{CustomerID: customer})
	if errors.Is(err, pgx.ErrNoRows) {
		return writeJSON(w, http.StatusOK, balanceView{CustomerID: customer})
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, balanceView{customer, b.Cents, b.Version})
}
