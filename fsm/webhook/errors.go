package webhook

import (
	"errors"
	"fmt"
	"time"
)

// Errors of this package, for errors.Is. No message holds a secret, a
// signature, or anything of the body.
var (
	// ErrNoSecret: no secret was given, or one of those given is empty.
	ErrNoSecret = errors.New("no webhook secret")
	// ErrTolerance: the tolerance or the greatest age given to a constructor is not
	// positive.
	ErrTolerance = errors.New("webhook tolerance or greatest age is not positive")
	// ErrMissingHeader: a header of the scheme is absent or empty.
	ErrMissingHeader = errors.New("missing")
	// ErrMalformed: a header, a secret, or a value to be signed does not have
	// the form that the scheme asks for.
	ErrMalformed = errors.New("malformed")
	// ErrSignature: no signature of a version that counts fits any secret.
	ErrSignature = errors.New("webhook signature does not match")
	// ErrUnknownKey: the callback names a key that the verifier does not have.
	// The provider may have changed its keys.
	ErrUnknownKey = errors.New("webhook key is not known")
	// ErrKeySource: the key could not be fetched, so that nothing is known of
	// the callback. It may be genuine: have it come again.
	ErrKeySource = errors.New("webhook key cannot be fetched")
	// ErrRecipient: the signature is right, and the callback is meant for
	// another application or seller.
	ErrRecipient = errors.New("webhook is meant for another recipient")
	// ErrStale: the signature is right, but the time stamp is too far from now.
	// The error is a [StaleError].
	ErrStale = errors.New("webhook time stamp is outside the window")
)

// HeaderError says which header cannot be used, and why.
type HeaderError struct {
	// Header is the name, as the provider writes it.
	Header string
	// Err is ErrMissingHeader or ErrMalformed.
	Err error
	// Reason says what is wrong with a malformed header, without its value.
	Reason string
}

// Error names the header and the reason.
func (e *HeaderError) Error() string {
	return described("webhook header "+e.Header, e.Err, e.Reason)
}

// Unwrap returns Err.
func (e *HeaderError) Unwrap() error { return e.Err }

// SecretError says which of the secrets given to a constructor cannot be used,
// and why.
type SecretError struct {
	// Index is the secret's position, from 0; -1 when no secret was given.
	Index int
	// Err is ErrNoSecret or ErrMalformed.
	Err error
	// Reason says what is wrong with a malformed secret, without its value.
	Reason string
}

// Error gives the position and the reason.
func (e *SecretError) Error() string {
	if e.Index < 0 {
		return described("webhook secrets", e.Err, e.Reason)
	}
	return described(fmt.Sprintf("webhook secret %d", e.Index), e.Err, e.Reason)
}

// Unwrap returns Err.
func (e *SecretError) Unwrap() error { return e.Err }

// StaleError is the [ErrStale] of a genuine callback: a late or repeated one,
// or one of the two clocks is wrong.
type StaleError struct {
	// Timestamp is the callback's, Now the caller's.
	Timestamp, Now time.Time
	// Tolerance is how far it may lie away in that direction.
	Tolerance time.Duration
}

// Future tells whether the time stamp lies ahead of the caller's clock, not
// behind it.
func (e *StaleError) Future() bool { return e.Timestamp.After(e.Now) }

// Error gives the distance, its direction, and the window.
func (e *StaleError) Error() string {
	distance, direction := e.Now.Sub(e.Timestamp), "past"
	if e.Future() {
		distance, direction = e.Timestamp.Sub(e.Now), "future"
	}
	return fmt.Sprintf("%v: %s in the %s, at most %s is accepted", ErrStale, distance, direction, e.Tolerance)
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// described joins subject, cause and reason. It tolerates a nil cause, which a
// caller's own value of an exported type may hold.
func described(subject string, cause error, reason string) string {
	text := subject
	if cause != nil {
		text += ": " + cause.Error()
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}
