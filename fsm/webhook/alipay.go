package webhook

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// AlipayMaxAge is how old a notice of Alipay may be: it is repeated for about 25
// hours, and it is not documented that a repeat bears a new time.
const AlipayMaxAge = 48 * time.Hour

// maxAlipayParameters bounds the parameters of one notice; it has about 30.
const maxAlipayParameters = 200

// Alipay verifies Alipay's asynchronous notices, signed with RSA2
// (SHA256withRSA). It is safe for concurrent use. The zero value refuses
// everything with [ErrNoSecret].
type Alipay struct {
	app      string
	keys     []*rsaKey
	settings settings
}

var _ Verifier = (*Alipay)(nil)

// WithSeller has [Alipay] refuse notices to another seller_id, with
// [ErrRecipient].
func WithSeller(id string) Option {
	return func(s *settings) { s.seller = id }
}

// NewAlipay returns a verifier of notices to the application appID, signed with
// any of Alipay's public keys (several while one replaces another). Those are
// Alipay's, not the application's own.
//
// The errors are a [SecretError]: ErrNoSecret, or ErrMalformed for what is no RSA
// key of 2048 bits or more; ErrRecipient for an empty appID; and ErrTolerance.
func NewAlipay(appID string, keys []PublicKey, options ...Option) (*Alipay, error) {
	s, err := settingsOf(options, AlipayMaxAge)
	if err != nil {
		return nil, err
	}
	if appID == "" {
		return nil, ErrRecipient
	}
	read, err := publicKeys(keys)
	if err != nil {
		return nil, err
	}
	return &Alipay{app: appID, keys: read, settings: s}, nil
}

// Verify checks the form in body against its own signature, then its app_id,
// its seller_id with [WithSeller], and notify_time. The Delivery's ID is
// notify_id, which repeats share. What it vouches for is what [ParseAlipay]
// returns of the same body. The header is not looked at.
//
// The errors: ErrMalformed for a body that ParseAlipay refuses; ErrSignature,
// also for another sign_type; ErrRecipient; and a [StaleError].
func (v *Alipay) Verify(_ http.Header, body []byte, now time.Time) (Delivery, error) {
	if v == nil || len(v.keys) == 0 {
		return Delivery{}, ErrNoSecret
	}
	notice, err := ParseAlipay(body)
	if err != nil {
		return Delivery{}, err
	}
	position := v.fitting(notice)
	switch {
	case position < 0:
		return Delivery{}, ErrSignature
	case notice.AppID != v.app, v.settings.seller != "" && notice.SellerID != v.settings.seller:
		return Delivery{}, ErrRecipient
	}
	if err := v.settings.checkWindow(notice.NotifyTime, now); err != nil {
		return Delivery{}, err
	}
	return Delivery{ID: notice.NotifyID, Timestamp: notice.NotifyTime, Secret: position}, nil
}

// fitting is the position of the first key that fits, or -1.
func (v *Alipay) fitting(notice AlipayNotice) int {
	if notice.values["sign_type"] != "RSA2" {
		return -1
	}
	text := []byte(alipaySigned(notice.values))
	for i, key := range v.keys {
		if key.fits(notice.values["sign"], text) {
			return i
		}
	}
	return -1
}

// alipaySigned joins what a notice's signature covers: all parameters but sign
// and sign_type, decoded, in the order of their names.
func alipaySigned(values map[string]string) string {
	var text strings.Builder
	for _, name := range sortedNames(values) {
		if name == "sign" || name == "sign_type" {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('&')
		}
		text.WriteString(name + "=" + values[name])
	}
	return text.String()
}

func sortedNames(values map[string]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readForm decodes a form whose names are all different.
func readForm(body []byte) (map[string]string, string) {
	values := map[string]string{}
	for part := range strings.SplitSeq(string(body), "&") {
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || name == "" {
			return nil, "not a form"
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			return nil, "not a form"
		}
		if _, repeated := values[name]; repeated {
			return nil, "a parameter is repeated"
		}
		if values[name] = value; len(values) > maxAlipayParameters {
			return nil, "too many parameters"
		}
	}
	return values, ""
}
