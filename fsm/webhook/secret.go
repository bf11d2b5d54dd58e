package webhook

import "strings"

// redacted stands for every secret wherever one is printed.
const redacted = "[secret]"

// Secret is a webhook secret as the provider gives it, prefix included. It
// prints, logs and encodes as a placeholder, so that a configuration can be
// shown; string(s) is the real text.
type Secret string

// String returns a placeholder.
func (Secret) String() string { return redacted }

// GoString returns a placeholder, for %#v.
func (Secret) GoString() string { return redacted }

// MarshalText returns a placeholder, for JSON and slog. The error is nil.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// hmacPrefix begins the shared secrets of Standard Webhooks and of Stripe.
const hmacPrefix = "whsec_"

// eachSecret hands every secret to add, with its position, after the checks
// that all schemes share. It fails when there is none.
func eachSecret(secrets []Secret, add func(text string) *SecretError) error {
	if len(secrets) == 0 {
		return &SecretError{Index: -1, Err: ErrNoSecret}
	}
	for i, secret := range secrets {
		text := string(secret)
		trimmed := strings.TrimSpace(text)
		if trimmed == "" || trimmed == hmacPrefix {
			return &SecretError{Index: i, Err: ErrNoSecret}
		}
		// The usual cause is a line end read from a file. Accepted, it would
		// make every genuine callback look forged.
		if trimmed != text {
			return &SecretError{Index: i, Err: ErrMalformed, Reason: "white space around it"}
		}
		if err := add(text); err != nil {
			err.Index = i
			return err
		}
	}
	return nil
}
