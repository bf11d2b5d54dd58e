package storm

import (
	"context"
	"fmt"
)

// The events: each checks what the transaction read, and acts on it.

func (n *Naive) pay(ctx context.Context, o *naiveOrder) (string, error) {
	outcome := "Replayed"
	switch o.status {
	case "PENDING":
		outcome = "Applied"
		if err := o.move(ctx, "pay", "PAYING"); err != nil {
			return "", err
		}
	case "PAYING":
	default:
		return "Rejected", nil
	}
	_, err := o.tx.Exec(ctx, "INSERT INTO attempts (payment_no, order_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", o.asked.PaymentNo, o.id)
	return outcome, err
}

func (n *Naive) cancel(ctx context.Context, o *naiveOrder) (string, error) {
	switch o.status {
	case "PENDING", "PAYING":
		return "Applied", o.move(ctx, "cancel", "CANCELLED")
	case "CANCELLED":
		return "Replayed", nil
	}
	return "Rejected", nil
}

func (n *Naive) ship(ctx context.Context, o *naiveOrder) (string, error) {
	switch {
	case o.status == "PAID" && o.stale():
		return "Stale", nil
	case o.status == "PAID":
		return "Applied", o.move(ctx, "ship", "SHIPPED")
	case o.status == "SHIPPED" || o.status == "COMPLETED":
		return "Replayed", nil
	}
	return "Rejected", nil
}

func (n *Naive) receive(ctx context.Context, o *naiveOrder) (string, error) {
	switch o.status {
	case "SHIPPED":
		return "Applied", o.move(ctx, "receive", "COMPLETED")
	case "COMPLETED":
		return "Replayed", nil
	}
	return "Rejected", nil
}

func (n *Naive) refund(ctx context.Context, o *naiveOrder) (string, error) {
	number, amount := o.asked.RefundNo, o.asked.AmountCents
	meaning := fmt.Sprint(amount)
	if outcome, err := o.known(ctx, "refund", number, meaning); outcome != "" || err != nil {
		return outcome, err
	}
	from, to := o.status, o.status
	switch {
	case !o.delivering():
		return "Rejected", nil
	case o.promised+amount > o.paid:
		return "GuardFailed", nil
	case o.promised+amount == o.paid:
		to = "REFUNDING"
	}
	if _, err := o.tx.Exec(ctx, "UPDATE orders SET refund_cents = refund_cents + $2 WHERE order_id = $1", o.id, amount); err != nil {
		return "", err
	}
	if err := o.move(ctx, "refund", to); err != nil {
		return "", err
	}
	if _, err := o.tx.Exec(ctx, "INSERT INTO promises (refund_no, order_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", number, o.id); err != nil {
		return "", err
	}
	if err := o.emit(ctx, "refund", "refund_due", from, number, map[string]any{"refund_no": number, "amount_cents": amount}); err != nil {
		return "", err
	}
	return "Applied", o.remember(ctx, "refund", number, meaning, "Applied", from)
}

func (n *Naive) paymentSucceeded(ctx context.Context, o *naiveOrder) (string, error) {
	const event = "payment_succeeded"
	number, amount := o.asked.PaymentNo, o.asked.AmountCents
	meaning := fmt.Sprint(amount)
	if outcome, err := o.known(ctx, event, number, meaning); outcome != "" || err != nil {
		return outcome, err
	}
	n.hold()
	params := map[string]any{"payment_no": number, "paid_cents": amount}
	from, inTime := o.status, o.status == "PENDING" || o.status == "PAYING"
	switch {
	case inTime && amount == o.total:
		if _, err := o.tx.Exec(ctx, "UPDATE orders SET paid_cents = $2, payment_no = $3, paid_at = $4 WHERE order_id = $1", o.id, amount, number, o.now); err != nil {
			return "", err
		}
		if err := o.move(ctx, event, "PAID"); err != nil {
			return "", err
		}
		if err := o.effects(ctx); err != nil {
			return "", err
		}
		if err := o.emit(ctx, event, "order_paid", from, number, params); err != nil {
			return "", err
		}
		return "Applied", o.remember(ctx, event, number, meaning, "Applied", from)
	case o.status == "CANCELLED":
		if _, err := o.tx.Exec(ctx, "UPDATE orders SET paid_cents = $2, refund_cents = $2, payment_no = $3, paid_at = $4 WHERE order_id = $1", o.id, amount, number, o.now); err != nil {
			return "", err
		}
		if err := o.move(ctx, event, "REFUNDING"); err != nil {
			return "", err
		}
		if err := o.emit(ctx, event, "refund_due", from, number, params); err != nil {
			return "", err
		}
		return "Applied", o.remember(ctx, event, number, meaning, "Applied", from)
	}
	if err := o.emit(ctx, event, "refund_due", from, number, params); err != nil {
		return "", err
	}
	return "Compensated", o.remember(ctx, event, number, meaning, "Compensated", from)
}

func (n *Naive) paymentFailed(ctx context.Context, o *naiveOrder) (string, error) {
	const event = "payment_failed"
	if outcome, err := o.known(ctx, event, o.asked.PaymentNo, ""); outcome != "" || err != nil {
		return outcome, err
	}
	if o.status != "PAYING" {
		return "Ignored", nil
	}
	if err := o.move(ctx, event, "PENDING"); err != nil {
		return "", err
	}
	return "Applied", o.remember(ctx, event, o.asked.PaymentNo, "", "Applied", "PAYING")
}

func (n *Naive) refundSucceeded(ctx context.Context, o *naiveOrder) (string, error) {
	const event = "refund_succeeded"
	number, amount := o.asked.RefundNo, o.asked.AmountCents
	meaning := fmt.Sprint(o.asked.PaymentNo, " ", amount)
	if outcome, err := o.known(ctx, event, number, meaning); outcome != "" || err != nil {
		return outcome, err
	}
	from, to := o.status, o.status
	ours := o.payment == o.asked.PaymentNo && (o.delivering() || o.status == "REFUNDING")
	switch {
	case ours && o.status == "REFUNDING" && o.given+amount == o.paid:
		to = "REFUNDED"
	case ours && o.given+amount <= o.promised && o.given+amount < o.paid:
	default:
		return "Compensated", o.remember(ctx, event, number, meaning, "Compensated", from)
	}
	if _, err := o.tx.Exec(ctx, "UPDATE orders SET refunded_cents = refunded_cents + $2 WHERE order_id = $1", o.id, amount); err != nil {
		return "", err
	}
	if err := o.move(ctx, event, to); err != nil {
		return "", err
	}
	return "Applied", o.remember(ctx, event, number, meaning, "Applied", from)
}

func (n *Naive) refundFailed(ctx context.Context, o *naiveOrder) (string, error) {
	const event = "refund_failed"
	if outcome, err := o.known(ctx, event, o.asked.RefundNo, ""); outcome != "" || err != nil {
		return outcome, err
	}
	if err := o.emit(ctx, event, "refund_stuck", o.status, o.asked.RefundNo, map[string]any{"refund_no": o.asked.RefundNo}); err != nil {
		return "", err
	}
	return "Compensated", o.remember(ctx, event, o.asked.RefundNo, "", "Compensated", o.status)
}

func (n *Naive) hold() {
	if n.checked != nil {
		n.checked()
	}
}
