package storm

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

// tooLongAgo is how old an outdated signature is.
const tooLongAgo = time.Hour

// Provider is a simulated payment provider with secrets of its own. It signs by
// two schemes; so does a forger with other secrets. It is safe for concurrent use.
type Provider struct {
	standard, forgedStandard *webhook.StandardSigner
	stripe, forgedStripe     *webhook.StripeSigner
	secrets                  *[2]webhook.Secret // fmt follows no pointers in here
}

// NewProvider returns a provider with random secrets.
func NewProvider() (*Provider, error) {
	secret := newSecret()
	return ProviderWith(secret, secret)
}

// ProviderWith returns the provider whose secrets these are.
func ProviderWith(standard, stripe webhook.Secret) (*Provider, error) {
	p := &Provider{secrets: &[2]webhook.Secret{standard, stripe}}
	var err error
	if p.standard, err = webhook.NewStandardSigner([]webhook.Secret{standard}); err != nil {
		return nil, err
	}
	if p.stripe, err = webhook.NewStripeSigner([]webhook.Secret{stripe}); err != nil {
		return nil, err
	}
	other := newSecret()
	if p.forgedStandard, err = webhook.NewStandardSigner([]webhook.Secret{other}); err != nil {
		return nil, err
	}
	p.forgedStripe, err = webhook.NewStripeSigner([]webhook.Secret{other})
	return p, err
}

func newSecret() webhook.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return webhook.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(key))
}

// Verifiers returns what tells this provider's callbacks from others.
func (p *Provider) Verifiers() (standard, stripe webhook.Verifier, err error) {
	if standard, err = webhook.NewStandard(p.secrets[:1]); err != nil {
		return nil, nil, err
	}
	stripe, err = webhook.NewStripe(p.secrets[1:])
	return standard, stripe, err
}

// notice is a callback's body.
type notice struct {
	ID   string     `json:"id"`
	Type string     `json:"type"`
	Data noticeData `json:"data"`
}

type noticeData struct {
	OrderID     string `json:"order_id"`
	PaymentNo   string `json:"payment_no,omitempty"`
	RefundNo    string `json:"refund_no,omitempty"`
	AmountCents int64  `json:"amount_cents,omitempty"`
}

// noticeTypes says how the provider calls an event.
var noticeTypes = map[order.Event]string{
	order.EventPaymentSucceeded: "payment.succeeded",
	order.EventPaymentFailed:    "payment.failed",
	order.EventRefundSucceeded:  "refund.succeeded",
	order.EventRefundFailed:     "refund.failed",
}

// deliver returns one delivery of a callback: path, signed headers and body.
func (p *Provider) deliver(a action, orderID string, now time.Time) (string, http.Header, []byte, error) {
	n := notice{ID: a.delivery, Type: noticeTypes[a.event], Data: noticeData{OrderID: orderID, AmountCents: a.amount}}
	switch a.event {
	case order.EventPaymentSucceeded, order.EventPaymentFailed:
		n.Data.PaymentNo = a.number
	default:
		n.Data.RefundNo, n.Data.PaymentNo = a.number, a.payment
	}
	body, err := json.Marshal(n)
	if err != nil {
		return "", nil, nil, fmt.Errorf("encode callback: %w", err)
	}
	standard, stripe := p.standard, p.stripe
	switch a.trick {
	case forged:
		standard, stripe = p.forgedStandard, p.forgedStripe
	case outdated:
		now = now.Add(-tooLongAgo)
	}
	if a.stripe {
		header, err := stripe.Sign(now, body)
		return "/callbacks/stripe", header, body, err
	}
	header, err := standard.Sign(a.delivery, now, body)
	return "/callbacks/standard", header, body, err
}
