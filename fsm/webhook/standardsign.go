package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// StandardSigner signs callbacks by Standard Webhooks 1.0.0, as a provider
// does. It is safe for concurrent use. The zero value refuses to sign, with
// [ErrNoSecret].
type StandardSigner struct {
	keys []standardSigningKey
}

// NewStandardSigner returns a signer that signs with each of the secrets, in
// order, as a provider does during a rotation. A secret is whsec_ with 24 to
// 64 bytes in base64 for v1, or whsk_ with an ed25519 private key (seed, or
// seed and public key) in base64 for v1a; a whpk_ key cannot sign.
//
// The error is a [SecretError], which is ErrNoSecret or ErrMalformed.
func NewStandardSigner(secrets []Secret) (*StandardSigner, error) {
	s := &StandardSigner{}
	err := eachSecret(secrets, func(text string) *SecretError {
		key, err := signingKey(text)
		s.keys = append(s.keys, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Sign returns the three webhook headers for one attempt, made at the given
// time, to deliver body as message id. The id stays the same over retries.
//
// The error is ErrMalformed for an id that is empty, longer than 1 KiB, not
// printable ASCII or has a full stop, and for a time before 1970 or after the
// year 5138.
func (s *StandardSigner) Sign(id string, at time.Time, body []byte) (http.Header, error) {
	if s == nil || len(s.keys) == 0 {
		return nil, ErrNoSecret
	}
	if id == "" {
		return nil, fmt.Errorf("webhook message id: %w: empty", ErrMalformed)
	}
	if reason := badID(id); reason != "" {
		return nil, fmt.Errorf("webhook message id: %w: %s", ErrMalformed, reason)
	}
	stamp, ok := formatStamp(at)
	if !ok {
		return nil, errStamp()
	}
	m := message{id: id, stamp: stamp, body: body}
	entries := make([]string, len(s.keys))
	for i, key := range s.keys {
		entries[i] = key.version() + "," + key.sign(m)
	}
	header := http.Header{}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, stamp)
	header.Set(HeaderSignature, strings.Join(entries, " "))
	return header, nil
}

// errStamp is the error of a time that no time stamp can tell.
func errStamp() error {
	return fmt.Errorf("webhook time stamp: %w: out of range", ErrMalformed)
}
