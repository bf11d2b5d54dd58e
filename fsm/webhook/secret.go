package webhook

import (
	"fmt"
	"log/slog"
	"strings"
)

// redacted stands for every secret wherever one is printed.
const redacted = "[secret]"

// Secret is a webhook secret, or a private key, as the provider gives it, prefix
// included. It prints, logs and encodes as a placeholder, by every verb of fmt, also
// as a field of something that is printed, so that a configuration can be shown;
// Reveal alone gives the text. The zero value is no secret.
type Secret struct {
	// A pointer, since fmt prints the insides of unexported fields of others,
	// without asking them, but follows no pointers there.
	text *string
}

// NewSecret is the secret with this text; of an empty one, the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Secrets are the secrets with these texts, in their order; none for none.
func Secrets(texts ...string) []Secret {
	secrets := make([]Secret, len(texts))
	for i, text := range texts {
		secrets[i] = NewSecret(text)
	}
	return secrets
}

// Reveal returns the text, empty for the zero value.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns a placeholder.
func (Secret) String() string { return redacted }

// Format prints a placeholder, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns a placeholder, which encoding/json and many others use. The
// error is nil.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalBinary returns a placeholder, for encoding/gob. The error is nil.
func (Secret) MarshalBinary() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns a placeholder.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// held keeps a key where fmt does not get at it: of a function it prints an address,
// by every verb, while it follows a pointer to a struct for one that does not fit.
type held[T any] func() T

func hold[T any](key T) held[T] { return func() T { return key } }

// hmacPrefix begins the shared secrets of Standard Webhooks and of Stripe.
const hmacPrefix = "whsec_"

// eachSecret hands every secret to add, with its position, after the checks
// that all schemes share. It fails when there is none.
func eachSecret(secrets []Secret, add func(text string) *SecretError) error {
	if len(secrets) == 0 {
		return &SecretError{Index: -1, Err: ErrNoSecret}
	}
	for i, secret := range secrets {
		text := secret.Reveal()
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
