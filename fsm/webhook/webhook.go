// Package webhook tells whether a payment provider's callback is genuine and
// fresh: it checks the signature over the raw body and the age of its time
// stamp. It knows Standard Webhooks, Stripe, Adyen, Alipay, WeChat Pay v3 (and
// decrypts what that sends) and PayPal. It signs too, for tests and for simulated
// providers.
//
// It leaves the rest to its callers: reading the body with a limit, what the
// provider is answered, logging and counting refusals, and above all
// de-duplication. A genuine callback may come many times and in any order, so
// its event goes through a machine's call, with the provider's identifier as
// identity, and the machine judges it.
//
// The body must be the bytes as received. A body that was decoded and encoded
// again has another signature.
package webhook

import (
	"crypto/x509"
	"net/http"
	"time"
)

// DefaultTolerance is how far a callback's time stamp may lie from now, in the
// past and in the future, unless [WithTolerance] says otherwise.
const DefaultTolerance = 5 * time.Minute

// Verifier tells whether a callback is genuine. Each provider's scheme is a
// type of its own; the interface is for endpoints that serve several.
//
// now is the time of arrival by the caller's clock. The errors are those of
// this package, for errors.Is; with an error the Delivery is zero and nothing
// of the callback may be believed. Implementations are safe for concurrent use
// and keep neither header nor body.
type Verifier interface {
	Verify(header http.Header, body []byte, now time.Time) (Delivery, error)
}

// Delivery is what a signature vouches for besides the body.
type Delivery struct {
	// ID names the message and stays the same over its retries. It is empty
	// where the scheme has no identifier outside the body, as Stripe's: take
	// the event's from the body then.
	ID string
	// Timestamp is when this attempt was signed, in UTC, to the second. It is
	// zero where the scheme signs no time, as Adyen's.
	Timestamp time.Time
	// Secret is the position, from 0, of the first secret that fits the
	// signature. After a rotation it shows when the old one is out of use.
	Secret int
}

// Option sets something about a verifier.
type Option func(*settings)

// settings holds what the options of a verifier set.
type settings struct {
	tolerance time.Duration
	age       time.Duration // how old a stamp may be
	aged      bool          // age is the caller's
	seller    string
	sandbox   bool
	roots     *x509.CertPool
	certURLs  []string
}

// WithTolerance accepts time stamps up to d away from now, both ways and
// inclusive, instead of [DefaultTolerance]. A d that is not positive makes the
// constructor fail with [ErrTolerance], since it would refuse every callback.
func WithTolerance(d time.Duration) Option {
	return func(s *settings) { s.tolerance = d }
}

// WithMaxAge accepts time stamps up to d old, inclusive, and leaves what may lie
// in the future to the tolerance. Without it a stamp may be as old as the
// tolerance, [AlipayMaxAge] or [PayPalMaxAge]. A d that is not positive makes
// the constructor fail with [ErrTolerance].
func WithMaxAge(d time.Duration) Option {
	return func(s *settings) { s.age, s.aged = d, true }
}

// settingsOf applies the options in order; a later one wins, a nil one is
// skipped. age is the scheme's own greatest age, 0 for that of the tolerance.
func settingsOf(options []Option, age time.Duration) (settings, error) {
	s := settings{tolerance: DefaultTolerance, age: age}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	if s.tolerance <= 0 || s.aged && s.age <= 0 {
		return settings{}, ErrTolerance
	}
	if s.age == 0 {
		s.age = s.tolerance
	}
	return s, nil
}
