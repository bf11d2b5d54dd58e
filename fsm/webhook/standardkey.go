package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// Prefixes of the ed25519 keys of Standard Webhooks.
const (
	publicPrefix  = "whpk_"
	privatePrefix = "whsk_"
)

// Bounds of a shared secret, in random bytes.
const (
	minSecretBytes = 24
	maxSecretBytes = 64
)

// strict refuses a second spelling of the same bytes.
var strict = base64.StdEncoding.Strict()

// standardKey verifies signatures of one version.
type standardKey interface {
	version() string
	// signed tells whether one of the given signatures fits m.
	signed(m message, given []string) bool
}

// standardSigningKey makes signatures of one version, in base64.
type standardSigningKey interface {
	version() string
	sign(m message) string
}

// hmacKey is a shared secret: it signs and verifies v1.
type hmacKey struct{ secret held[[]byte] }

func (k *hmacKey) version() string { return "v1" }

func (k *hmacKey) sign(m message) string {
	return strict.EncodeToString(hmacSHA256(k.secret(), m.prefix(), m.body))
}

func (k *hmacKey) signed(m message, given []string) bool {
	// The encoded texts are compared: base64 decoders skip line ends, texts
	// do not.
	want := []byte(k.sign(m))
	found := 0
	for _, signature := range given {
		found |= subtle.ConstantTimeCompare(want, []byte(signature))
	}
	return found == 1
}

// hmacSHA256 signs prefix and body as one text, without joining them.
func hmacSHA256(secret []byte, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(prefix)) // a hash never fails to write
	mac.Write(body)
	return mac.Sum(nil)
}

// publicKey verifies v1a.
type publicKey struct{ key ed25519.PublicKey }

func (k *publicKey) version() string { return "v1a" }

func (k *publicKey) signed(m message, given []string) bool {
	text := m.signedBytes()
	for _, signature := range given {
		// The length of the text is looked at first, because the decoder
		// skips line ends.
		if len(signature) != strict.EncodedLen(ed25519.SignatureSize) {
			continue
		}
		raw, err := strict.DecodeString(signature)
		if err == nil && len(raw) == ed25519.SignatureSize && ed25519.Verify(k.key, text, raw) {
			return true
		}
	}
	return false
}

// privateKey signs v1a.
type privateKey struct{ key held[ed25519.PrivateKey] }

func (k *privateKey) version() string { return "v1a" }

func (k *privateKey) sign(m message) string {
	return strict.EncodeToString(ed25519.Sign(k.key(), m.signedBytes()))
}

// signedBytes joins what the signature covers; ed25519 reads it twice and so
// needs it whole.
func (m message) signedBytes() []byte {
	return append([]byte(m.prefix()), m.body...)
}

// verifyingKey reads a secret that a receiver holds.
func verifyingKey(text string) (standardKey, *SecretError) {
	if strings.HasPrefix(text, privatePrefix) {
		return nil, &SecretError{Err: ErrMalformed, Reason: "a signing key; give the whsec_ or whpk_ one"}
	}
	encoded, ok := strings.CutPrefix(text, publicPrefix)
	if !ok {
		return sharedKey(text)
	}
	raw, err := decodeSecret(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) != ed25519.PublicKeySize {
		return nil, &SecretError{Err: ErrMalformed, Reason: "a public key has 32 bytes"}
	}
	// A blank key is a valid point of small order: signatures for it can be
	// made by anyone.
	if allZero(raw) {
		return nil, &SecretError{Err: ErrNoSecret}
	}
	return &publicKey{key: raw}, nil
}

// signingKey reads a secret that a sender holds.
func signingKey(text string) (standardSigningKey, *SecretError) {
	if strings.HasPrefix(text, publicPrefix) {
		return nil, &SecretError{Err: ErrMalformed, Reason: "a verifying key; give the whsec_ or whsk_ one"}
	}
	encoded, ok := strings.CutPrefix(text, privatePrefix)
	if !ok {
		return sharedKey(text)
	}
	raw, err := decodeSecret(encoded)
	if err != nil {
		return nil, err
	}
	switch len(raw) {
	case ed25519.SeedSize:
		return &privateKey{hold(ed25519.NewKeyFromSeed(raw))}, nil
	case ed25519.PrivateKeySize:
		key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
		// Signing with a public half that is not the seed's would give the
		// private key away.
		if !key.Equal(ed25519.PrivateKey(raw)) {
			return nil, &SecretError{Err: ErrMalformed, Reason: "its two halves do not belong together"}
		}
		return &privateKey{hold(key)}, nil
	}
	return nil, &SecretError{Err: ErrMalformed, Reason: "a signing key has 32 or 64 bytes"}
}

// sharedKey reads a whsec_ secret.
func sharedKey(text string) (*hmacKey, *SecretError) {
	encoded, ok := strings.CutPrefix(text, hmacPrefix)
	if !ok {
		return nil, &SecretError{Err: ErrMalformed, Reason: "its prefix is not known"}
	}
	raw, err := decodeSecret(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) < minSecretBytes || len(raw) > maxSecretBytes {
		return nil, &SecretError{Err: ErrMalformed, Reason: "a shared secret has 24 to 64 bytes"}
	}
	return &hmacKey{hold(raw)}, nil
}

// decodeSecret reads the part behind a prefix.
func decodeSecret(encoded string) ([]byte, *SecretError) {
	if encoded == "" {
		return nil, &SecretError{Err: ErrNoSecret}
	}
	raw, err := strict.DecodeString(encoded)
	if err != nil {
		// The decoder's error would show where in the secret it stopped.
		return nil, &SecretError{Err: ErrMalformed, Reason: "not base64"}
	}
	return raw, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
