package inbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/fsm/webhook"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
	day      = 24 * time.Hour
)

// Standard is a provider that signs by Standard Webhooks. Its events have the
// webhook-id as ID, the body's type as Type, and the body as Data, a
// json.RawMessage.
func Standard(name string, v *webhook.Standard, handle Handler) Provider {
	return Provider{
		Name: name, Verifier: v, Handle: handle, Answers: PlainAnswers(), Limit: 15 * time.Second, Repeats: 3 * day,
		ContentType: jsonType, Headers: []string{webhook.HeaderID, webhook.HeaderTimestamp, webhook.HeaderSignature},
		Parse: func(d webhook.Delivery, body []byte) ([]Event, error) {
			head, err := headOf(body)
			return []Event{{ID: d.ID, Type: head.Type, Data: json.RawMessage(body)}}, err
		},
	}
}

// Stripe is the provider stripe. Its events have the body's id and type, and the
// body as Data, a json.RawMessage. Two event objects may tell one change: which,
// is for Change to say.
func Stripe(v *webhook.Stripe, handle Handler) Provider {
	return Provider{
		Name: "stripe", Verifier: v, Handle: handle, Answers: PlainAnswers(), Limit: 10 * time.Second, Repeats: 3 * day,
		ContentType: jsonType, Headers: []string{webhook.HeaderStripe},
		Parse: func(_ webhook.Delivery, body []byte) ([]Event, error) {
			head, err := headOf(body)
			return []Event{{ID: head.ID, Type: head.Type, Data: json.RawMessage(body)}}, err
		},
	}
}

// PayPal is the provider paypal. Its events have the body's id and event_type,
// and the body as Data, a json.RawMessage.
func PayPal(v *webhook.PayPal, handle Handler) Provider {
	return Provider{
		Name: "paypal", Verifier: v, Handle: handle, Answers: PlainAnswers(), Limit: 10 * time.Second, Repeats: 3 * day,
		ContentType: jsonType, Headers: []string{webhook.HeaderPayPalID, webhook.HeaderPayPalTime, webhook.HeaderPayPalSig, webhook.HeaderPayPalCertURL},
		Parse: func(_ webhook.Delivery, body []byte) ([]Event, error) {
			head, err := headOf(body)
			return []Event{{ID: head.ID, Type: head.EventType, Data: json.RawMessage(body)}}, err
		},
	}
}

// head is the part of a JSON event that all such providers have.
type head struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	EventType string `json:"event_type"`
}

func headOf(body []byte) (head, error) {
	var h head
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("%w: not JSON of an event", ErrUnreadable) // the decoder's words may hold the body's
	}
	return h, nil
}

// Adyen is the provider adyen. A delivery has an event for each item, with Data a
// webhook.AdyenItem; pspReference, eventCode and success are its ID, as Adyen has
// it, and value and currency its fingerprint.
func Adyen(v *webhook.Adyen, handle Handler) Provider {
	return Provider{
		Name: "adyen", Verifier: v, Handle: handle, Answers: AdyenAnswers(), Limit: 10 * time.Second, Repeats: 30 * day,
		ContentType: jsonType,
		Parse: func(_ webhook.Delivery, body []byte) ([]Event, error) {
			items, err := webhook.ParseAdyen(body)
			events := make([]Event, len(items))
			for i, item := range items {
				status := fmt.Sprintf("%s:%t", item.EventCode, item.Success)
				events[i] = Event{
					ID: item.PSPReference + ":" + status, Type: item.EventCode, Object: item.PSPReference, Status: status,
					Fingerprint: fmt.Sprintf("%d %s", item.Value, item.Currency), Data: item,
				}
			}
			return events, err
		},
	}
}

// Alipay is the provider alipay. Its events have notify_id as ID and a
// webhook.AlipayNotice as Data; trade and refund numbers are the object,
// trade_status the status and type, and the amounts the fingerprint.
func Alipay(v *webhook.Alipay, handle Handler) Provider {
	return Provider{
		Name: "alipay", Verifier: v, Handle: handle, Answers: AlipayAnswers(), Limit: 5 * time.Second, Repeats: 26 * time.Hour,
		ContentType: formType,
		Parse: func(_ webhook.Delivery, body []byte) ([]Event, error) {
			n, err := webhook.ParseAlipay(body)
			e := Event{ID: n.NotifyID, Type: n.TradeStatus, Data: n, Fingerprint: n.TotalAmount + " " + n.RefundFee}
			if n.OutTradeNo != "" && n.TradeStatus != "" {
				e.Object, e.Status = strings.TrimSuffix(n.OutTradeNo+"/"+n.OutBizNo, "/"), n.TradeStatus
			}
			return []Event{e}, err
		},
	}
}

// WeChat is the provider wechat. Its events have the notification's id and
// event_type, and a webhook.WeChatNotice, decrypted, as Data. The order's or the
// refund's number is the object, its state the status, and its amount the
// fingerprint.
func WeChat(v *webhook.WeChat, handle Handler) Provider {
	return Provider{
		Name: "wechat", Verifier: v, Handle: handle, Answers: WeChatAnswers(), Limit: 5 * time.Second, Repeats: 26 * time.Hour,
		ContentType: jsonType, Headers: []string{webhook.HeaderWeChatTimestamp, webhook.HeaderWeChatNonce, webhook.HeaderWeChatSerial, webhook.HeaderWeChatSignature},
		Parse: func(_ webhook.Delivery, body []byte) ([]Event, error) {
			n, err := v.Decrypt(body)
			if err != nil {
				return nil, err
			}
			e := Event{ID: n.ID, Type: n.EventType, Data: n}
			e.Object, e.Status, e.Fingerprint, err = wechatChange(n)
			return []Event{e}, err
		},
	}
}

// wechatChange reads what a transaction or a refund says.
func wechatChange(n webhook.WeChatNotice) (object, status, fingerprint string, err error) {
	var r struct {
		OutTradeNo   string `json:"out_trade_no"`
		TradeState   string `json:"trade_state"`
		OutRefundNo  string `json:"out_refund_no"`
		RefundStatus string `json:"refund_status"`
		Amount       struct {
			Total  int64 `json:"total"`
			Refund int64 `json:"refund"`
		} `json:"amount"`
	}
	if json.Unmarshal(n.Resource, &r) != nil {
		return "", "", "", fmt.Errorf("%w: the resource is not JSON", ErrUnreadable)
	}
	switch fingerprint = fmt.Sprintf("%d %d", r.Amount.Total, r.Amount.Refund); {
	case r.OutRefundNo != "" && r.RefundStatus != "":
		return "refund/" + r.OutRefundNo, r.RefundStatus, fingerprint, nil
	case r.OutTradeNo != "" && r.TradeState != "":
		return r.OutTradeNo, r.TradeState, fingerprint, nil
	}
	return "", "", "", nil
}
