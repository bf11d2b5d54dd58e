package webhook

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of PayPal.
const (
	HeaderPayPalID       = "Paypal-Transmission-Id"
	HeaderPayPalTime     = "Paypal-Transmission-Time"
	HeaderPayPalSig      = "Paypal-Transmission-Sig"
	HeaderPayPalCertURL  = "Paypal-Cert-Url"
	HeaderPayPalAuthAlgo = "Paypal-Auth-Algo"
)

// PayPalMaxAge is how old a callback of PayPal may be: it is repeated for three
// days, and it is not documented that a repeat bears a new time.
const PayPalMaxAge = 75 * time.Hour

const paypalAlgorithm = "SHA256withRSA"

// PayPal verifies callbacks of PayPal. It fetches the certificate that a callback
// names, from PayPal's own host alone, and keeps it. It is safe for concurrent
// use. The zero value refuses everything with [ErrNoSecret].
type PayPal struct {
	webhooks []string
	certs    *certCache
	settings settings
}

var _ Verifier = (*PayPal)(nil)

// WithSandbox has [PayPal] fetch certificates from the sandbox's host instead.
func WithSandbox() Option {
	return func(s *settings) { s.sandbox = true }
}

// WithRoots has [PayPal] accept only certificates that lead to one of the roots.
// Without it, the certificate is trusted for the host that it came from, by TLS.
func WithRoots(roots *x509.CertPool) Option {
	return func(s *settings) { s.roots = roots }
}

// WithCertURLs names addresses of certificates that [PayPal] fetches whatever forged
// callbacks have it fetch besides: those in the header Paypal-Cert-Url of genuine ones.
// Without it a flood of forged callbacks from the start on can use up the 20 fetches a
// minute that addresses not known are allowed, and genuine callbacks are then refused
// with [ErrKeySource]; PayPal repeats them. An address that a genuine callback named is
// known from then on, also when its certificate has to be fetched again.
func WithCertURLs(urls ...string) Option {
	return func(s *settings) { s.certURLs = append(s.certURLs, urls...) }
}

// NewPayPal returns a verifier of callbacks to any of the webhooks, by the IDs
// that PayPal gave them.
//
// The errors: ErrNoSecret without a webhook or with an empty one, ErrMalformed
// for one that is not printable ASCII or has a bar, ErrKeySource without a
// fetcher or with an address of WithCertURLs that is none of PayPal's, and ErrTolerance.
func NewPayPal(webhookIDs []string, fetch CertFetcher, options ...Option) (*PayPal, error) {
	s, err := settingsOf(options, PayPalMaxAge)
	if err != nil {
		return nil, err
	}
	if fetch == nil {
		return nil, ErrKeySource
	}
	if len(webhookIDs) == 0 {
		return nil, &SecretError{Index: -1, Err: ErrNoSecret}
	}
	v := &PayPal{settings: s, certs: &certCache{fetch: fetch, roots: s.roots}}
	for _, url := range s.certURLs {
		if reason := badCertURL(url, s.sandbox); reason != "" {
			return nil, fmt.Errorf("%w: the address of a certificate: %s", ErrKeySource, reason)
		}
		v.certs.told = append(v.certs.told, url)
	}
	for i, id := range webhookIDs {
		switch {
		case id == "":
			return nil, &SecretError{Index: i, Err: ErrNoSecret}
		case !printable(id) || strings.Contains(id, "|"):
			return nil, &SecretError{Index: i, Err: ErrMalformed, Reason: "a webhook ID is printable ASCII without a bar"}
		}
		v.webhooks = append(v.webhooks, id)
	}
	return v, nil
}

// Verify is [PayPal.VerifyContext] with five seconds to fetch a certificate.
func (v *PayPal) Verify(header http.Header, body []byte, now time.Time) (Delivery, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return v.VerifyContext(ctx, header, body, now)
}

// VerifyContext checks the five PayPal headers against the body as received. ctx
// bounds the fetching of a certificate. The Delivery's ID is the transmission's;
// the event's own is in the body, and is the one to de-duplicate by. Its Secret
// is the position of the webhook.
//
// The signature covers a CRC-32 of the body, which is no protection: whoever
// could see a callback could make another body with that checksum. Ask PayPal
// for what counts, as its documentation advises.
//
// The errors: a [HeaderError], also for a certificate of another host or another
// algorithm; ErrKeySource when the certificate cannot be had, or is none;
// ErrSignature; and a [StaleError].
func (v *PayPal) VerifyContext(ctx context.Context, header http.Header, body []byte, now time.Time) (Delivery, error) {
	if v == nil || len(v.webhooks) == 0 {
		return Delivery{}, ErrNoSecret
	}
	p, err := readPayPal(header)
	if err != nil {
		return Delivery{}, err
	}
	if reason := badCertURL(p.certURL, v.settings.sandbox); reason != "" {
		return Delivery{}, malformed(HeaderPayPalCertURL, reason)
	}
	// A stale callback is not worth a fetch; and it is told as stale only when
	// its signature is right, which a kept certificate tells.
	window := v.settings.checkWindow(p.at, now)
	if window != nil && !v.certs.has(p.certURL, now) {
		return Delivery{}, ErrSignature
	}
	key, err := v.certs.key(ctx, p.certURL, now)
	if err != nil {
		return Delivery{}, err
	}
	for i, webhook := range v.webhooks {
		if !key.fits(p.signature, paypalSigned(p.id, p.stamp, webhook, body)) {
			continue
		}
		v.certs.genuine(p.certURL)
		if window != nil {
			return Delivery{}, window
		}
		return Delivery{ID: p.id, Timestamp: p.at, Secret: i}, nil
	}
	return Delivery{}, ErrSignature
}

// paypalSigned joins what the signature covers.
func paypalSigned(id, stamp, webhook string, body []byte) []byte {
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
	return []byte(id + "|" + stamp + "|" + webhook + "|" + sum)
}

// transmission is what the headers say.
type transmission struct {
	id, stamp, signature, certURL string
	at                            time.Time
}

func readPayPal(header http.Header) (transmission, error) {
	var values [5]string
	for i, name := range []string{HeaderPayPalID, HeaderPayPalTime, HeaderPayPalSig, HeaderPayPalCertURL, HeaderPayPalAuthAlgo} {
		value, err := single(header, name)
		if err != nil {
			return transmission{}, err
		}
		values[i] = value
	}
	p := transmission{id: values[0], stamp: values[1], signature: values[2], certURL: values[3]}
	if !printable(p.id) || len(p.id) > maxIDBytes || strings.Contains(p.id, "|") {
		return transmission{}, malformed(HeaderPayPalID, "not printable ASCII without a bar")
	}
	at, err := time.Parse(time.RFC3339, p.stamp)
	if err != nil {
		return transmission{}, malformed(HeaderPayPalTime, "not a time")
	}
	if p.at = at.UTC().Truncate(time.Second); values[4] != paypalAlgorithm {
		return transmission{}, malformed(HeaderPayPalAuthAlgo, "not "+paypalAlgorithm)
	}
	return p, nil
}

// PayPalSigner signs as PayPal does, for tests. It cannot be used before
// [NewPayPalSigner] made it.
type PayPalSigner struct {
	key              held[*rsa.PrivateKey]
	webhook, certURL string
}

// NewPayPalSigner returns a signer for the webhook, with the RSA key of the
// certificate at certURL. The error is a [SecretError].
func NewPayPalSigner(key Secret, webhookID, certURL string) (*PayPalSigner, error) {
	signing, err := signingRSA(key)
	if err != nil {
		return nil, err
	}
	return &PayPalSigner{key: hold(signing), webhook: webhookID, certURL: certURL}, nil
}

// Sign returns the five headers for one attempt, made at the given time, to
// deliver body as transmission id. The error is ErrNoSecret, or the key's.
func (s *PayPalSigner) Sign(id string, at time.Time, body []byte) (http.Header, error) {
	if s == nil || s.key == nil {
		return nil, ErrNoSecret
	}
	stamp := at.UTC().Format(time.RFC3339)
	signature, err := signRSA(s.key(), paypalSigned(id, stamp, s.webhook, body))
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(HeaderPayPalID, id)
	header.Set(HeaderPayPalTime, stamp)
	header.Set(HeaderPayPalSig, signature)
	header.Set(HeaderPayPalCertURL, s.certURL)
	header.Set(HeaderPayPalAuthAlgo, paypalAlgorithm)
	return header, nil
}
