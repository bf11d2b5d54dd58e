package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// genuine is a callback that its scheme accepts.
type genuine struct {
	scheme string
	verify func(secret string, header http.Header, body []byte) error
	header http.Header
	body   []byte
	secret string
	// key is what counts of a secret; two spellings of one key are one.
	key func(secret string) string
	// means is what counts of a callback: a change that leaves it is no forgery. Nil
	// where every byte counts.
	means func(header http.Header, body []byte) any
}

func whole(secret string) string { return secret }

// callbacks are one of each scheme.
func callbacks(t testing.TB) []genuine {
	t.Helper()
	_, ours := ourPEM(t)
	keys := []webhook.PublicKey{ours, webhook.PublicKey(rsaPublic)}
	return []genuine{
		{"standard", func(secret string, h http.Header, body []byte) error {
			v, err := webhook.NewStandard(webhook.Secrets(secret))
			if err == nil {
				_, err = v.Verify(h, body, stdTime)
			}
			return err
		}, stdHeader(stdSignature), []byte(stdBody), stdSecret, func(secret string) string {
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
			return string(raw)
		}, func(h http.Header, body []byte) any { // of a list of signatures one has to be right, between whatever blanks
			signed := slices.Contains(strings.Split(h.Get(webhook.HeaderSignature), " "), stdSignature)
			h = h.Clone()
			h.Del(webhook.HeaderSignature)
			return []any{h, signed, string(body)}
		}},
		{"stripe", func(secret string, h http.Header, body []byte) error {
			v, err := webhook.NewStripe(webhook.Secrets(secret))
			if err == nil {
				_, err = v.Verify(h, body, stripeTime)
			}
			return err
		}, stripeHeader("t=1492774577," + stripeV1), []byte(stripeBody), stripeSecret, whole, func(h http.Header, body []byte) any {
			said := slices.DeleteFunc(strings.Split(strings.ToLower(h.Get("Stripe-Signature")), ","), func(part string) bool { return part == "" })
			return strings.Join(said, ",") + string(body) // hexadecimal in either case, and nothing between two commas
		}},
		{"adyen", func(secret string, h http.Header, body []byte) error {
			v, err := webhook.NewAdyen(webhook.Secrets(secret))
			if err == nil {
				_, err = v.Verify(h, body, time.Time{})
			}
			return err
		}, http.Header{}, adyenBody(adyenOf(adyenFields, adyenVector)), adyenSecret, func(secret string) string {
			raw, _ := hex.DecodeString(secret)
			return string(raw)
		}, func(_ http.Header, body []byte) any {
			items, _ := webhook.ParseAdyen(body)
			return items
		}},
		{"alipay", func(app string, h http.Header, body []byte) error {
			v, err := webhook.NewAlipay(app, keys)
			if err == nil {
				_, err = v.Verify(h, body, alipayAt)
			}
			return err
		}, http.Header{}, alipayForm(alipayValues(), alipayVector), alipayApp, whole, func(_ http.Header, body []byte) any {
			n, err := webhook.ParseAlipay(body)
			if err != nil {
				return err
			}
			told := map[string]string{}
			for name := range alipayValues() {
				told[name], _ = n.Get(name)
			}
			return told
		}},
		{"wechat", func(serial string, h http.Header, body []byte) error {
			v, err := webhook.NewWeChat([]webhook.PlatformKey{{Serial: serial, Key: webhook.PublicKey(rsaPublic)}}, webhook.Secrets(wechatAPIKey))
			if err == nil {
				_, err = v.Verify(h, body, wechatAt)
			}
			return err
		}, wechatHeader(wechatSerial, wechatVector), []byte(wechatBody), wechatSerial, whole, nil},
		{"paypal", func(id string, h http.Header, body []byte) error {
			v, err := webhook.NewPayPal([]string{id}, (&source{pem: rsaCert}).fetch)
			if err == nil {
				_, err = v.Verify(h, body, paypalAt)
			}
			return err
		}, paypalHeader(), []byte(paypalBody), paypalWebhook, whole, func(h http.Header, body []byte) any {
			h = h.Clone() // any address of PayPal's may have the certificate
			h.Del("Paypal-Cert-Url")
			return []any{h, string(body)}
		}},
	}
}

// edit changes a text in one place: a bit turned, a byte gone, one more, one doubled.
func edit(text []byte, at uint16, how, with byte) []byte {
	out := bytes.Clone(text)
	if len(out) == 0 {
		return append(out, with)
	}
	i := int(at) % len(out)
	switch how % 4 {
	case 0:
		out[i] ^= 1 << (with % 8)
	case 1:
		out = slices.Delete(out, i, i+1)
	case 2:
		out = slices.Insert(out, i, with)
	default:
		out = slices.Insert(out, i, out[i])
	}
	return out
}

// FuzzChanged: a genuine callback of which anything was changed, in its body, one of
// its headers or the secret, is refused, unless it says the same. The error shows
// neither the secret nor the body.
func FuzzChanged(f *testing.F) {
	all := callbacks(f)
	for scheme := range all {
		for part := range byte(7) {
			for at := range uint16(12) {
				f.Add(byte(scheme), part, at*37, byte(at), byte(at*31), "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, scheme, part byte, at uint16, how, with byte, instead string) {
		g := all[int(scheme)%len(all)]
		header, body, secret := g.header.Clone(), g.body, g.secret
		change := func(text []byte) []byte {
			if instead != "" {
				return []byte(instead)
			}
			return edit(text, at, how, with)
		}
		names := make([]string, 0, len(header))
		for name := range header {
			names = append(names, name)
		}
		slices.Sort(names)
		switch p := int(part) % (len(names) + 2); p {
		case 0:
			body = change(body)
		case 1:
			secret = string(change([]byte(secret)))
		default:
			header[names[p-2]] = []string{string(change([]byte(header[names[p-2]][0])))}
		}
		err := g.verify(secret, header, body)
		if err != nil {
			checkError(t, err, body, g.secret)
			if len(secret) > 8 { // a short one may occur in a message by chance
				checkError(t, err, body, secret)
			}
			return
		}
		require.Equal(t, g.key(g.secret), g.key(secret), "%s: another secret", g.scheme)
		if g.means == nil {
			require.Equal(t, g.header, header, g.scheme)
			require.Equal(t, g.body, body, g.scheme)
			return
		}
		require.Equal(t, g.means(g.header, g.body), g.means(header, body), g.scheme)
	})
}

// Every bit of every callback: of its body, its headers and its secret.
func TestEveryBitCounts(t *testing.T) {
	t.Parallel()
	for _, g := range callbacks(t) {
		t.Run(g.scheme, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, g.verify(g.secret, g.header, g.body))
			refused := 0
			try := func(secret string, header http.Header, body []byte) {
				if g.verify(secret, header, body) != nil {
					refused++
					return
				}
				require.Equal(t, g.key(g.secret), g.key(secret))
				require.NotNil(t, g.means, "%v %s", header, body)
				require.Equal(t, g.means(g.header, g.body), g.means(header, body))
			}
			for bit := range 8 {
				for at := range g.body {
					try(g.secret, g.header, edit(g.body, uint16(at), 0, byte(bit)))
				}
				for at := range g.secret {
					try(string(edit([]byte(g.secret), uint16(at), 0, byte(bit))), g.header, g.body)
				}
				for name, values := range g.header {
					for at := range values[0] {
						header := g.header.Clone()
						header[name] = []string{string(edit([]byte(values[0]), uint16(at), 0, byte(bit)))}
						try(g.secret, header, g.body)
					}
				}
			}
			require.Greater(t, refused, 8*len(g.body)/3)
		})
	}
}
