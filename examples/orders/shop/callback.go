package shop

import (
	"errors"
	"net/http"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// notice is what a provider tells, whichever way it signs.
type notice struct {
	ID   string     `json:"id"`
	Type noticeType `json:"type"`
	Data struct {
		OrderID     string `json:"order_id"`
		PaymentNo   string `json:"payment_no"`
		RefundNo    string `json:"refund_no"`
		AmountCents int64  `json:"amount_cents"`
	} `json:"data"`
}

type noticeType string

const (
	paymentSucceeded noticeType = "payment.succeeded"
	paymentFailed    noticeType = "payment.failed"
	refundSucceeded  noticeType = "refund.succeeded"
	refundFailed     noticeType = "refund.failed"
)

// refundClosed is what a status word means that says so, and is no notice's type:
// the refund did not happen, and never will.
const refundClosed noticeType = "refund.closed"

// origin is where a notice came from.
type origin struct{ provider, delivery string }

// retryAfter is when a provider may come again with what was too early.
const retryAfter = "30"

// callback serves one provider without an inbox. The raw body is verified before anything else
// is done with it; what is not genuine leaves a log line and a count, and
// nothing in the database.
func (s *Service) callback(provider string, v webhook.Verifier) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := readBody(r)
		if err != nil {
			return err
		}
		delivery, err := v.Verify(r.Header, body, s.now())
		if err != nil {
			return s.refuseCallback(r, provider, err)
		}
		n, err := parseNotice(body)
		var unknown unknownTypeError
		if errors.As(err, &unknown) {
			return s.ignoreCallback(w, r, provider, unknown)
		}
		if err != nil {
			s.log.WarnContext(r.Context(), "genuine callback with a bad body", "provider", provider, "error", err)
			return err
		}
		from := origin{provider: provider, delivery: delivery.ID}
		if from.delivery == "" { // Stripe's scheme has its id in the body alone
			from.delivery = n.ID
		}
		outcome, err := s.inTurn(r.Context(), s.lock, n.Data.OrderID, func() (fsm.Outcome, error) {
			return s.settleNow(r.Context(), from, n)
		})
		return s.tellProvider(w, outcome, err)
	}
}

// refuseCallback counts and logs a callback that is not believed, and answers
// without saying what would have been right.
func (s *Service) refuseCallback(r *http.Request, provider string, err error) error {
	reason := "header"
	var stale *webhook.StaleError
	switch {
	case errors.As(err, &stale) && stale.Future():
		reason = "future"
	case errors.As(err, &stale):
		reason = "stale"
	case errors.Is(err, webhook.ErrSignature):
		reason = "signature"
	}
	s.counters.refuse(provider, reason)
	s.log.WarnContext(r.Context(), "callback refused", "provider", provider, "reason", reason, "from", r.RemoteAddr, "error", err)
	return &statusError{status: http.StatusUnauthorized, detail: "the callback is not believed: " + reason}
}

// unknownTypeError is the type of a notice that has nothing to do with us.
type unknownTypeError string

// Error does not show the type, which is the sender's.
func (e unknownTypeError) Error() string { return "the type is not one of ours" }

// ignoreCallback counts and logs a genuine callback of a type that is not ours,
// and has the provider be done with it: providers send more than a shop asked
// for, and would come again with what is refused.
func (s *Service) ignoreCallback(w http.ResponseWriter, r *http.Request, provider string, unknown unknownTypeError) error {
	s.counters.ignore(provider)
	name := string(unknown)
	if len(name) > maxText {
		name = name[:maxText]
	}
	s.log.InfoContext(r.Context(), "callback ignored", "provider", provider, "type", name)
	return s.tellProvider(w, fsm.Ignored, nil)
}

// parseNotice reads a genuine body. Fields that we do not know are let be, since
// providers add some without asking. Of a type that we do not know, which is an
// unknownTypeError, nothing else is looked at: its data has another shape.
func parseNotice(body []byte) (notice, error) {
	var (
		n    notice
		f    fields
		head struct {
			Type noticeType `json:"type"`
		}
	)
	if err := decodeJSON(body, &head, false); err != nil {
		return n, err
	}
	switch head.Type {
	case paymentSucceeded, paymentFailed, refundSucceeded, refundFailed:
	case "":
		f.refuse("type", "is missing")
		return n, f.err
	default:
		return n, unknownTypeError(head.Type)
	}
	if err := decodeJSON(body, &n, false); err != nil {
		return n, err
	}
	f.number("id", n.ID)
	n.Data.OrderID = f.uuid("data.order_id", n.Data.OrderID)
	switch n.Type {
	case paymentSucceeded:
		f.number("data.payment_no", n.Data.PaymentNo)
		f.between("data.amount_cents", n.Data.AmountCents, 1, maxCents)
	case paymentFailed:
		f.number("data.payment_no", n.Data.PaymentNo)
	case refundSucceeded:
		f.number("data.refund_no", n.Data.RefundNo)
		f.number("data.payment_no", n.Data.PaymentNo)
		f.between("data.amount_cents", n.Data.AmountCents, 1, maxCents)
	case refundFailed:
		f.number("data.refund_no", n.Data.RefundNo)
	}
	return n, f.err
}

// tellProvider says whether the provider is done with this notice. It is told to
// come again only where a later delivery can end better.
func (s *Service) tellProvider(w http.ResponseWriter, outcome fsm.Outcome, err error) error {
	switch {
	case errors.Is(err, fsm.ErrNotFound): // it may have overtaken our own commit
		w.Header().Set("Retry-After", retryAfter)
		return err
	case err != nil:
		return &statusError{http.StatusServiceUnavailable, "come again", err}
	}
	switch outcome {
	case fsm.Applied, fsm.Replayed, fsm.Ignored, fsm.Compensated:
	case fsm.Mismatched, fsm.GuardFailed:
		// A person has it now; telling it again changes nothing.
	default:
		w.Header().Set("Retry-After", retryAfter)
		return &fsm.RefusedError{Outcome: outcome}
	}
	return writeJSON(w, http.StatusOK, struct {
		Outcome fsm.Outcome `json:"outcome"`
	}{outcome})
}
