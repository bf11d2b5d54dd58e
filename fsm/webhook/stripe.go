package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// HeaderStripe is the one header of Stripe's scheme.
const HeaderStripe = "Stripe-Signature"

// Stripe verifies callbacks signed by Stripe's scheme, version v1. It is safe
// for concurrent use. The zero value refuses everything with [ErrNoSecret].
type Stripe struct {
	keys     []*hmacKey
	settings settings
}

var _ Verifier = (*Stripe)(nil)

// NewStripe returns a verifier that accepts a signature by any of the secrets:
// several are valid after a secret was rolled. The key is the secret's whole
// text, prefix included.
//
// The errors are a [SecretError], which is ErrNoSecret (none, empty, or the
// bare prefix whsec_) or ErrMalformed (white space around it), and
// ErrTolerance.
func NewStripe(secrets []Secret, options ...Option) (*Stripe, error) {
	s, err := settingsOf(options, 0)
	if err != nil {
		return nil, err
	}
	keys, err := stripeKeys(secrets)
	if err != nil {
		return nil, err
	}
	return &Stripe{keys: keys, settings: s}, nil
}

func stripeKeys(secrets []Secret) ([]*hmacKey, error) {
	var keys []*hmacKey
	err := eachSecret(secrets, func(text string) *SecretError {
		keys = append(keys, &hmacKey{hold([]byte(text))})
		return nil
	})
	return keys, err
}

// Verify checks the Stripe-Signature header against the body as received. One
// fitting v1 signature is enough; other parts are skipped, v0 among them. A
// time stamp in the future is refused like one in the past. The Delivery has
// no ID: the event's is in the body.
//
// The errors are those of [Standard.Verify].
func (v *Stripe) Verify(header http.Header, body []byte, now time.Time) (Delivery, error) {
	if v == nil || len(v.keys) == 0 {
		return Delivery{}, ErrNoSecret
	}
	list, err := single(header, HeaderStripe)
	if err != nil {
		return Delivery{}, err
	}
	text, signatures, err := readStripe(list)
	if err != nil {
		return Delivery{}, err
	}
	stamp, ok := parseStamp(text)
	if !ok {
		return Delivery{}, malformed(HeaderStripe, "t is not unix seconds")
	}
	for i, key := range v.keys {
		want := hmacSHA256(key.secret(), text+".", body)
		found := 0
		for _, signature := range signatures {
			found |= subtle.ConstantTimeCompare(want, signature)
		}
		if found != 1 {
			continue
		}
		if err := v.settings.checkWindow(stamp, now); err != nil {
			return Delivery{}, err
		}
		return Delivery{Timestamp: stamp, Secret: i}, nil
	}
	return Delivery{}, ErrSignature
}

// readStripe takes the text of the time stamp and the decoded v1 signatures
// out of the header. A v1 part that is no signature is skipped.
func readStripe(list string) (stamp string, signatures [][]byte, err error) {
	parts, stamps, others := 0, 0, 0
	for part := range strings.SplitSeq(list, ",") {
		if parts++; parts > maxSignatures {
			return "", nil, malformed(HeaderStripe, "too many parts")
		}
		name, value, _ := strings.Cut(part, "=")
		switch {
		case name == "t":
			stamp = value
			stamps++
		case name == "" || value == "":
		case name == "v1":
			others++
			if raw, err := hex.DecodeString(value); err == nil && len(raw) == sha256.Size {
				signatures = append(signatures, raw)
			}
		default:
			others++
		}
	}
	switch {
	case stamps == 0:
		return "", nil, malformed(HeaderStripe, "no t in it")
	case stamps > 1:
		// Which of them was signed must not be a matter of trying.
		return "", nil, malformed(HeaderStripe, "more than one t")
	case others == 0:
		return "", nil, malformed(HeaderStripe, "no signature in it")
	}
	return stamp, signatures, nil
}

// StripeSigner signs callbacks by Stripe's scheme, as Stripe does. It is safe
// for concurrent use. The zero value refuses to sign, with [ErrNoSecret].
type StripeSigner struct {
	keys []*hmacKey
}

// NewStripeSigner returns a signer that signs with each of the secrets, in
// order, as Stripe does after a secret was rolled. The error is a
// [SecretError], as of [NewStripe].
func NewStripeSigner(secrets []Secret) (*StripeSigner, error) {
	keys, err := stripeKeys(secrets)
	if err != nil {
		return nil, err
	}
	return &StripeSigner{keys: keys}, nil
}

// Sign returns the Stripe-Signature header for one attempt, made at the given
// time, to deliver body. The error is ErrMalformed for a time before 1970 or
// after the year 5138.
func (s *StripeSigner) Sign(at time.Time, body []byte) (http.Header, error) {
	if s == nil || len(s.keys) == 0 {
		return nil, ErrNoSecret
	}
	stamp, ok := formatStamp(at)
	if !ok {
		return nil, errStamp()
	}
	var list strings.Builder
	list.WriteString("t=" + stamp)
	for _, key := range s.keys {
		list.WriteString(",v1=" + hex.EncodeToString(hmacSHA256(key.secret(), stamp+".", body)))
	}
	header := http.Header{}
	header.Set(HeaderStripe, list.String())
	return header, nil
}
