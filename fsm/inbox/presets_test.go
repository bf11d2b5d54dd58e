package inbox_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

// sender makes one genuine delivery of a provider's.
type sender func(t *testing.T, b *bench) (http.Header, []byte)

// scheme is a provider of the presets, how it sends, and what it wants to hear.
type scheme struct {
	provider    func(inbox.Handler) inbox.Provider
	send        sender
	contentType string
	accepted    inbox.Answer
	refused     string // the body
	events      []string
}

func pems(t *testing.T) (webhook.Secret, webhook.PublicKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&key.PublicKey)})
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return webhook.NewSecret(string(private)), webhook.PublicKey(public), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func schemes(t *testing.T) map[string]scheme {
	t.Helper()
	private, public, cert := pems(t)
	return map[string]scheme{
		"stripe": stripeScheme(t), "bank": standardScheme(t), "adyen": adyenScheme(t),
		"alipay": alipayScheme(t, private, public), "wechat": wechatScheme(t, private, public), "paypal": paypalScheme(t, private, cert),
	}
}

const jsonType = "application/json"

var accepted = inbox.Answer{Status: 200}

func stripeScheme(t *testing.T) scheme {
	v, err := webhook.NewStripe([]webhook.Secret{stripeSecret})
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.Stripe(v, h) },
		func(_ *testing.T, b *bench) (http.Header, []byte) {
			body := []byte(`{"id":"evt_1","object":"event","type":"payment_intent.succeeded"}`)
			return b.signed(body), body
		}, jsonType, accepted, "refused\n", []string{"evt_1"},
	}
}

func standardScheme(t *testing.T) scheme {
	v, err := webhook.NewStandard([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	s, err := webhook.NewStandardSigner([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.Standard("bank", v, h) },
		func(t *testing.T, b *bench) (http.Header, []byte) {
			body := []byte(`{"type":"paid","data":{}}`)
			header, err := s.Sign("msg_1", b.now, body)
			require.NoError(t, err)
			return header, body
		}, jsonType, accepted, "refused\n", []string{"msg_1"},
	}
}

func adyenScheme(t *testing.T) scheme {
	secret := webhook.NewSecret("DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00")
	v, err := webhook.NewAdyen([]webhook.Secret{secret})
	require.NoError(t, err)
	s, err := webhook.NewAdyenSigner(secret)
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.Adyen(v, h) },
		func(t *testing.T, _ *bench) (http.Header, []byte) {
			body, err := s.Sign(
				webhook.AdyenItem{PSPReference: "psp2", MerchantReference: "A", Value: 1000, Currency: "EUR", EventCode: "AUTHORISATION", Success: true},
				webhook.AdyenItem{PSPReference: "psp1", MerchantReference: "B", Value: 1, Currency: "EUR", EventCode: "REFUND"})
			require.NoError(t, err)
			return http.Header{}, body
		}, jsonType, inbox.Answer{Status: 200, ContentType: "text/plain; charset=utf-8", Body: "[accepted]"}, "refused\n",
		[]string{"psp2:AUTHORISATION:true", "psp1:REFUND:false"},
	}
}

func alipayScheme(t *testing.T, private webhook.Secret, public webhook.PublicKey) scheme {
	v, err := webhook.NewAlipay("app", []webhook.PublicKey{public})
	require.NoError(t, err)
	s, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.Alipay(v, h) },
		func(t *testing.T, b *bench) (http.Header, []byte) {
			body, err := s.Sign(map[string]string{
				"app_id": "app", "notify_id": "n1", "notify_time": b.now.Add(8 * time.Hour).Format(time.DateTime),
				"out_trade_no": "A", "trade_status": "TRADE_SUCCESS", "total_amount": "42.00",
			})
			require.NoError(t, err)
			return http.Header{}, body
		}, "application/x-www-form-urlencoded; charset=utf-8",
		inbox.Answer{Status: 200, ContentType: "text/plain; charset=utf-8", Body: "success"}, "fail", []string{"n1"},
	}
}

func wechatScheme(t *testing.T, private webhook.Secret, public webhook.PublicKey) scheme {
	apiKey := webhook.NewSecret("0123456789abcdef0123456789ABCDEF")
	v, err := webhook.NewWeChat([]webhook.PlatformKey{{Serial: "S1", Key: public}}, []webhook.Secret{apiKey})
	require.NoError(t, err)
	s, err := webhook.NewWeChatSigner("S1", private, apiKey)
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.WeChat(v, h) },
		func(t *testing.T, b *bench) (http.Header, []byte) {
			body, err := s.Seal(webhook.WeChatNotice{
				ID: "ev1", EventType: "TRANSACTION.SUCCESS", OriginalType: "transaction",
				Resource: []byte(`{"out_trade_no":"A","trade_state":"SUCCESS","amount":{"total":4200}}`),
			}, "")
			require.NoError(t, err)
			header, err := s.Sign(b.now, "nonce", body)
			require.NoError(t, err)
			return header, body
		}, jsonType, inbox.Answer{Status: 204}, `{"code":"FAIL","message":"refused"}`, []string{"ev1"},
	}
}

func paypalScheme(t *testing.T, private webhook.Secret, cert []byte) scheme {
	const certURL = "https://api.paypal.com/v1/notifications/certs/CERT-1"
	v, err := webhook.NewPayPal([]string{"WH"}, func(context.Context, string) ([]byte, error) { return cert, nil })
	require.NoError(t, err)
	s, err := webhook.NewPayPalSigner(private, "WH", certURL)
	require.NoError(t, err)
	return scheme{
		func(h inbox.Handler) inbox.Provider { return inbox.PayPal(v, h) },
		func(t *testing.T, b *bench) (http.Header, []byte) {
			body := []byte(`{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED"}`)
			header, err := s.Sign("tx", b.now, body)
			require.NoError(t, err)
			return header, body
		}, jsonType, accepted, "refused\n", []string{"WH-1"},
	}
}

// Every scheme end to end: the exact answers to a genuine delivery, its repeat, a
// forged one, and one that is stored and not yet processed.
func TestEveryScheme(t *testing.T) {
	t.Parallel()
	for name, s := range schemes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []inbox.Event
			tooEarly := false
			b := newBench(t, func(c *inbox.Config) {
				c.Providers = []inbox.Provider{s.provider(func(_ context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
					if got = append(got, e); tooEarly {
						return "", fsm.ErrNotFound
					}
					return fsm.Applied, nil
				})}
			})
			header, body := s.send(t, b)
			exact := func(header http.Header, body []byte, status int, text, kind string) {
				t.Helper()
				w := b.post(name, "POST", s.contentType, header, body)
				require.Equal(t, status, w.Code)
				require.Equal(t, text, w.Body.String())
				require.Equal(t, kind, w.Header().Get("Content-Type"))
			}
			tooEarly = true
			exact(header, body, s.accepted.Status, s.accepted.Body, s.accepted.ContentType)
			require.Len(t, b.list(inbox.Parked), len(s.events))
			tooEarly = false
			b.later()
			require.Equal(t, len(s.events), b.retry(), "from the stored body, long after its stamp")
			exact(header, body, s.accepted.Status, s.accepted.Body, s.accepted.ContentType)
			require.Len(t, b.list(inbox.Done), len(s.events))
			require.Len(t, got, 2*len(s.events))
			for i, id := range s.events {
				require.Equal(t, id, got[i].ID)
				require.Equal(t, name, got[i].Provider)
				require.Equal(t, name+":x", got[i].Identity("x"))
			}
			for _, first := range got[:len(s.events)] {
				i := slices.IndexFunc(got[len(s.events):], func(e inbox.Event) bool { return e.ID == first.ID })
				require.GreaterOrEqual(t, i, 0)
				require.Equal(t, first.Data, got[len(s.events)+i].Data)
			}

			forged := append([]byte(nil), body...)
			forged[len(forged)/2] ^= 1
			w := b.post(name, "POST", s.contentType, header, forged)
			require.Equal(t, 401, w.Code)
			require.Equal(t, s.refused, w.Body.String())
		})
	}
}

// What the providers' documents say of their time, where they say it: how long they
// wait for an answer, and for how long they repeat. A failure is never told by a
// 2xx, which would be the end of it.
func TestPresetsKeepTheProvidersTime(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	for name, says := range map[string]struct{ waits, repeats time.Duration }{
		"bank":   {},
		"stripe": {repeats: 3 * days},
		"adyen":  {10 * time.Second, 30 * days},
		"alipay": {repeats: (4+10+10)*time.Minute + (1+2+6+15)*time.Hour},
		"wechat": {waits: 5 * time.Second},
		"paypal": {repeats: 3 * days},
	} {
		p := schemes(t)[name].provider(nil)
		require.Positive(t, p.Limit, name)
		if says.waits > 0 {
			require.LessOrEqual(t, p.Limit, says.waits, name)
		}
		require.GreaterOrEqual(t, p.Repeats, says.repeats, name)
		for status := 400; status < 600; status++ {
			require.Equal(t, status, p.Answers.Failed(status, "words").Status, name)
		}
	}
}

// Alipay tells TRADE_FINISHED some time after TRADE_SUCCESS, or before it, or alone,
// and what it said at first once more: the order is paid once.
func TestFinishedAfterSuccess(t *testing.T) {
	t.Parallel()
	private, public, _ := pems(t)
	v, err := webhook.NewAlipay("app", []webhook.PublicKey{public})
	require.NoError(t, err)
	signer, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	meaning := func(word string) (order.Event, error) {
		return map[string]order.Event{"TRADE_SUCCESS": order.EventPaymentSucceeded, "TRADE_FINISHED": order.EventPaymentSucceeded}[word], nil
	}
	fire := func(ctx context.Context, tx pgx.Tx, e inbox.Event, _ order.Event) (fsm.Outcome, error) {
		n := e.Data.(webhook.AlipayNotice)
		cents, err := n.TotalCents()
		if err != nil {
			return "", err
		}
		r, err := order.PaymentSucceeded(ctx, tx, order.Key(n.OutTradeNo), order.PaymentSucceededParams{
			PaymentNo: e.Identity(n.TradeNo), PaidCents: cents,
		})
		return r.Outcome, err
	}
	status := func(e inbox.Event) string { return e.Status }
	for _, words := range [][]string{
		{"WAIT_BUYER_PAY", "TRADE_SUCCESS", "TRADE_FINISHED", "WAIT_BUYER_PAY"},
		{"TRADE_FINISHED", "TRADE_SUCCESS"},
		{"TRADE_FINISHED"},
	} {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *inbox.Config) {
				c.Providers = []inbox.Provider{inbox.Alipay(v, inbox.Words(status, meaning, fire))}
			}).withOrder()
			for i, word := range words {
				body, err := signer.Sign(map[string]string{
					"app_id": "app", "notify_id": fmt.Sprint("n", i), "notify_time": b.now.Add(8 * time.Hour).Format(time.DateTime),
					"out_trade_no": orderA, "trade_no": "t1", "trade_status": word, "total_amount": "42.00",
				})
				require.NoError(t, err)
				for range 2 {
					r, err := b.Receive(t.Context(), "alipay", nil, body)
					require.NoError(t, err)
					require.Equal(t, "success", r.Answer.Body)
				}
			}
			b.requireOrder(order.StatePaid, "order_paid", 1)
			require.Zero(t, b.count(`SELECT count(*) FROM fsm_outbox WHERE topic = 'refund_due'`))
			require.Empty(t, b.list(inbox.Dead))
		})
	}
}

// A genuine notice under whose signature somebody sends two of its parameters as one
// is processed all the same: the altered one leaves nothing to contradict it.
func TestAlteredNoticeFirst(t *testing.T) {
	t.Parallel()
	private, public, _ := pems(t)
	v, err := webhook.NewAlipay("app", []webhook.PublicKey{public})
	require.NoError(t, err)
	signer, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	b := newBench(t, func(c *inbox.Config) {
		c.Providers = []inbox.Provider{inbox.Alipay(v, func(_ context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
			if e.Status != "TRADE_SUCCESS" {
				return "", fsm.ErrUnknownWord
			}
			return fsm.Applied, nil
		})}
	})
	genuine, err := signer.Sign(map[string]string{
		"app_id": "app", "notify_id": "n1", "notify_time": b.now.Add(8 * time.Hour).Format(time.DateTime), "out_trade_no": orderA,
		"total_amount": "42.00", "trade_no": "t1", "trade_status": "TRADE_SUCCESS", "version": "1.0",
	})
	require.NoError(t, err)
	altered, err := url.ParseQuery(string(genuine))
	require.NoError(t, err)
	altered.Set("trade_status", "TRADE_SUCCESS&version=1.0")
	altered.Del("version")
	_, err = b.Receive(t.Context(), "alipay", nil, []byte(altered.Encode()))
	require.ErrorIs(t, err, inbox.ErrRefused)
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries`))

	r, err := b.Receive(t.Context(), "alipay", nil, genuine)
	require.NoError(t, err)
	require.Equal(t, inbox.VerdictDone, r.Told[0].Verdict)
}

// What the presets make of an event's object, status and fingerprint.
func TestPresetChanges(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"adyen":  {"psp2", "AUTHORISATION:true", "1000 EUR"},
		"alipay": {"A", "TRADE_SUCCESS", "42.00 "},
		"wechat": {"A", "SUCCESS", "4200 0"},
		"stripe": {"", "", ""},
		"paypal": {"", "", ""},
		"bank":   {"", "", ""},
	} {
		s := schemes(t)[name]
		_, body := s.send(t, &bench{t: t, now: noon})
		events, err := s.provider(nil).Parse(webhook.Delivery{ID: "m"}, body)
		require.NoError(t, err)
		require.Equal(t, want, []string{events[0].Object, events[0].Status, events[0].Fingerprint}, name)
	}
}
