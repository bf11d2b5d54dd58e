package webhook

import (
	"net/http"
	"strings"
	"time"
)

// Headers of Standard Webhooks.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// maxIDBytes is the longest identity that a fact takes.
const maxIDBytes = 1024

// Standard verifies callbacks signed by Standard Webhooks 1.0.0, with v1
// (HMAC-SHA256) and v1a (ed25519) signatures. It is safe for concurrent use.
// The zero value refuses everything with [ErrNoSecret].
type Standard struct {
	keys     []standardKey
	settings settings
}

var _ Verifier = (*Standard)(nil)

// NewStandard returns a verifier that accepts a signature by any of the
// secrets: several are valid while one replaces another. A secret is whsec_
// with 24 to 64 bytes in base64 for v1, or whpk_ with an ed25519 public key in
// base64 for v1a. A whsk_ signing key is refused: the receiver should not hold
// it.
//
// The errors are a [SecretError], which is ErrNoSecret or ErrMalformed, and
// ErrTolerance.
func NewStandard(secrets []Secret, options ...Option) (*Standard, error) {
	s, err := settingsOf(options, 0)
	if err != nil {
		return nil, err
	}
	v := &Standard{settings: s}
	err = eachSecret(secrets, func(text string) *SecretError {
		key, err := verifyingKey(text)
		v.keys = append(v.keys, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Verify checks the three webhook headers against the body as received. One
// fitting signature is enough, among others that do not fit; versions other
// than v1 and v1a are skipped, and a version counts only with secrets of its
// own kind.
//
// The errors: a [HeaderError], which is ErrMissingHeader (absent or empty) or
// ErrMalformed (given twice, or not of the scheme's form); ErrSignature; and a
// [StaleError]. The signature is judged before the time, so that a stale
// callback is a genuine one.
func (v *Standard) Verify(header http.Header, body []byte, now time.Time) (Delivery, error) {
	if v == nil || len(v.keys) == 0 {
		return Delivery{}, ErrNoSecret
	}
	m, stamp, err := readMessage(header, body)
	if err != nil {
		return Delivery{}, err
	}
	signatures, err := readSignatures(header)
	if err != nil {
		return Delivery{}, err
	}
	for i, key := range v.keys {
		given := signatures[key.version()]
		if len(given) == 0 || !key.signed(m, given) {
			continue
		}
		if err := v.settings.checkWindow(stamp, now); err != nil {
			return Delivery{}, err
		}
		return Delivery{ID: m.id, Timestamp: stamp, Secret: i}, nil
	}
	return Delivery{}, ErrSignature
}

// message is what a Standard Webhooks signature covers, as the texts that
// were signed.
type message struct {
	id, stamp string
	body      []byte
}

// prefix is what stands before the body in the signed bytes.
func (m message) prefix() string { return m.id + "." + m.stamp + "." }

// readMessage takes identifier and time stamp out of the headers.
func readMessage(header http.Header, body []byte) (message, time.Time, error) {
	id, err := single(header, HeaderID)
	if err != nil {
		return message{}, time.Time{}, err
	}
	if reason := badID(id); reason != "" {
		return message{}, time.Time{}, malformed(HeaderID, reason)
	}
	text, err := single(header, HeaderTimestamp)
	if err != nil {
		return message{}, time.Time{}, err
	}
	stamp, ok := parseStamp(text)
	if !ok {
		return message{}, time.Time{}, malformed(HeaderTimestamp, "not unix seconds")
	}
	return message{id: id, stamp: text, body: body}, stamp, nil
}

// badID says what is wrong with a non-empty message identifier, or nothing.
func badID(id string) string {
	if len(id) > maxIDBytes {
		return "too long"
	}
	for _, c := range []byte(id) {
		switch {
		// The signed bytes join their parts with full stops. With one inside
		// the identifier, a body that begins like "5." could be told again
		// under another identifier and time.
		case c == '.':
			return "a full stop in the identifier"
		case c <= ' ' || c > '~':
			return "not printable ASCII"
		}
	}
	return ""
}

// readSignatures sorts the signature list by version. An entry that is not
// version,signature is skipped; a list of such entries alone is malformed.
func readSignatures(header http.Header) (map[string][]string, error) {
	list, err := single(header, HeaderSignature)
	if err != nil {
		return nil, err
	}
	signatures := map[string][]string{}
	entries := 0
	for entry := range strings.SplitSeq(list, " ") {
		if entries++; entries > maxSignatures {
			return nil, malformed(HeaderSignature, "too many entries")
		}
		version, signature, _ := strings.Cut(entry, ",")
		if version != "" && signature != "" {
			signatures[version] = append(signatures[version], signature)
		}
	}
	if len(signatures) == 0 {
		return nil, malformed(HeaderSignature, "no signature in it")
	}
	return signatures, nil
}
