package shop

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
)

// Alipay and WeChat Pay tell a status word of a payment or a refund by the number
// that we gave it. What the word means, the maps of the definitions say; which
// order it concerns, our own row.

// handleAlipay is the inbox's handler of Alipay's notices. One of a refund tells
// the trade's status as well, and the sum of all refunds so far, which says nothing
// of any one: the trade's status is all that is taken from it.
func (s *Service) handleAlipay() inbox.Handler {
	words := inbox.Words(func(e inbox.Event) string { return e.Type }, payment.AlipayEvent, func(ctx context.Context, tx pgx.Tx, e inbox.Event, means payment.Event) (fsm.Outcome, error) {
		told, ok := e.Data.(webhook.AlipayNotice)
		if !ok {
			return "", inbox.ErrUnknownType
		}
		cents, err := told.TotalCents()
		if err != nil {
			return "", fmt.Errorf("%w: total_amount: %w", fsm.ErrArgument, err)
		}
		return s.settlePayment(ctx, tx, e, means, told.OutTradeNo, cents)
	})
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if e.Type == "" { // Alipay tells other things than trades by this way, too
			return "", inbox.ErrUnknownType
		}
		return words(ctx, tx, e)
	}
}

// wechatResource is what a transaction and a refund of WeChat Pay have in common
// with us. The amounts are in cents.
type wechatResource struct {
	OutTradeNo   string `json:"out_trade_no"`
	TradeState   string `json:"trade_state"`
	OutRefundNo  string `json:"out_refund_no"`
	RefundStatus string `json:"refund_status"`
	Amount       struct {
		Total  int64 `json:"total"`
		Refund int64 `json:"refund"`
	} `json:"amount"`
}

// wechat is the provider of WeChat Pay's notifications.
func (s *Service) wechat(v *webhook.WeChat) inbox.Provider {
	p := inbox.WeChat(v, s.handleWeChat())
	p.Change = func(e inbox.Event) (object, status, fingerprint string) {
		if told, err := resourceOf(e); err == nil && told.RefundStatus == "ABNORMAL" {
			return "", "", e.Fingerprint // it may become so again, after a retry
		}
		return e.Object, e.Status, e.Fingerprint
	}
	return p
}

// handleWeChat is the inbox's handler of WeChat Pay's notifications of payments and
// refunds.
func (s *Service) handleWeChat() inbox.Handler {
	trade := func(e inbox.Event) string { told, _ := resourceOf(e); return told.TradeState }
	status := func(e inbox.Event) string { told, _ := resourceOf(e); return told.RefundStatus }
	payments := inbox.Words(trade, payment.WeChatEvent, func(ctx context.Context, tx pgx.Tx, e inbox.Event, means payment.Event) (fsm.Outcome, error) {
		told, err := resourceOf(e)
		if err != nil {
			return "", err
		}
		return s.settlePayment(ctx, tx, e, means, told.OutTradeNo, told.Amount.Total)
	})
	refunds := inbox.Words(status, refund.WeChatEvent, func(ctx context.Context, tx pgx.Tx, e inbox.Event, means refund.Event) (fsm.Outcome, error) {
		told, err := resourceOf(e)
		if err != nil {
			return "", err
		}
		return s.settleRefund(ctx, tx, e, means, told)
	})
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		switch told, err := resourceOf(e); {
		case err != nil:
			return "", err
		case told.RefundStatus != "":
			return refunds(ctx, tx, e)
		case told.TradeState != "":
			return payments(ctx, tx, e)
		}
		return "", inbox.ErrUnknownType // a complaint, a contract …
	}
}

func resourceOf(e inbox.Event) (told wechatResource, err error) {
	n, ok := e.Data.(webhook.WeChatNotice)
	if !ok {
		return told, inbox.ErrUnknownType
	}
	if json.Unmarshal(n.Resource, &told) != nil { // its own error may hold values
		return told, fmt.Errorf("%w: the resource is of another form", fsm.ErrArgument)
	}
	return told, nil
}

// settlePayment settles what a word means for one of our payments. Without a row
// of that number it is too early: the inbox parks it.
func (s *Service) settlePayment(ctx context.Context, tx pgx.Tx, e inbox.Event, means payment.Event, number string, cents int64) (fsm.Outcome, error) {
	var (
		f fields
		n = notice{ID: e.ID}
	)
	f.number("out_trade_no", number)
	switch means {
	case payment.EventSucceed:
		n.Type = paymentSucceeded
		f.between("amount", cents, 1, maxCents)
	case payment.EventFail:
		n.Type = paymentFailed
	default:
		f.refuse("status", "means an event that no callback can tell")
	}
	if f.err != nil {
		return "", fmt.Errorf("%w: %w", fsm.ErrArgument, f.err)
	}
	row, err := payment.Get(ctx, tx, payment.Key(number))
	if err != nil {
		return "", err
	}
	n.Data.OrderID, n.Data.PaymentNo, n.Data.AmountCents = row.OrderID, number, cents
	return s.settleKept(ctx, tx, e, n)
}

// settleRefund is settlePayment for one of our refunds.
func (s *Service) settleRefund(ctx context.Context, tx pgx.Tx, e inbox.Event, means refund.Event, told wechatResource) (fsm.Outcome, error) {
	var (
		f fields
		n = notice{ID: e.ID}
	)
	f.number("out_refund_no", told.OutRefundNo)
	switch means {
	case refund.EventSucceed:
		n.Type = refundSucceeded
		f.number("out_trade_no", told.OutTradeNo)
		f.between("amount", told.Amount.Refund, 1, maxCents)
	case refund.EventStick:
		n.Type = refundFailed
	case refund.EventClose:
		n.Type = refundClosed
	default:
		f.refuse("status", "means an event that no callback can tell")
	}
	if f.err != nil {
		return "", fmt.Errorf("%w: %w", fsm.ErrArgument, f.err)
	}
	row, err := refund.Get(ctx, tx, refund.Key(told.OutRefundNo))
	if err != nil {
		return "", err
	}
	n.Data.OrderID, n.Data.PaymentNo = row.OrderID, told.OutTradeNo
	n.Data.RefundNo, n.Data.AmountCents = told.OutRefundNo, told.Amount.Refund
	return s.settleKept(ctx, tx, e, n)
}
