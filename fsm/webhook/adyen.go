package webhook

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAdyenItems bounds the items of one POST; Adyen sends a handful.
const maxAdyenItems = 100

// AdyenItem is what the signature of one item protects. An item has more fields
// in the body; they are for anyone to change, and so are not here.
type AdyenItem struct {
	PSPReference      string
	OriginalReference string // empty for an event that has none
	MerchantAccount   string
	MerchantReference string
	Value             int64 // in minor units
	Currency          string
	EventCode         string
	// Success tells whether what EventCode names was done; the code alone tells
	// nothing.
	Success bool
}

// Adyen verifies Adyen's classic notifications: HMAC-SHA256 over eight fields of
// each item. The scheme has no header and no time; de-duplication has to stand
// against replays. It is safe for concurrent use. The zero value refuses
// everything with [ErrNoSecret].
type Adyen struct{ keys []*hmacKey }

var _ Verifier = (*Adyen)(nil)

// NewAdyen returns a verifier that accepts a signature by any of the secrets,
// the HMAC keys in hexadecimal as the Customer Area shows them.
//
// The error is a [SecretError]: ErrNoSecret, or ErrMalformed for what is not 64
// hexadecimal digits.
func NewAdyen(secrets []Secret) (*Adyen, error) {
	keys, err := adyenKeys(secrets)
	if err != nil {
		return nil, err
	}
	return &Adyen{keys: keys}, nil
}

func adyenKeys(secrets []Secret) ([]*hmacKey, error) {
	var keys []*hmacKey
	err := eachSecret(secrets, func(text string) *SecretError {
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != 32 {
			return &SecretError{Err: ErrMalformed, Reason: "an HMAC key has 64 hexadecimal digits"}
		}
		if allZero(raw) {
			return &SecretError{Err: ErrNoSecret}
		}
		keys = append(keys, &hmacKey{hold(raw)})
		return nil
	})
	return keys, err
}

// Verify checks every item of the body; one that does not fit refuses them all.
// What it vouches for is what [ParseAdyen] returns of the same body, and no
// other field. header and now are not looked at. The Delivery has neither ID
// nor Timestamp; its Secret is the latest in the list that an item needed.
//
// The errors: ErrMalformed for a body that ParseAdyen refuses, and ErrSignature,
// also for an item that has no signature.
func (v *Adyen) Verify(_ http.Header, body []byte, _ time.Time) (Delivery, error) {
	if v == nil || len(v.keys) == 0 {
		return Delivery{}, ErrNoSecret
	}
	items, err := readAdyen(body)
	if err != nil {
		return Delivery{}, err
	}
	var d Delivery
	for _, item := range items {
		position := v.fitting(item)
		if position < 0 {
			return Delivery{}, ErrSignature
		}
		d.Secret = max(d.Secret, position)
	}
	return d, nil
}

// fitting is the position of the first secret that fits, or -1.
func (v *Adyen) fitting(item signedItem) int {
	for i, key := range v.keys {
		if subtle.ConstantTimeCompare([]byte(item.sign(key)), []byte(item.signature)) == 1 {
			return i
		}
	}
	return -1
}

// ParseAdyen returns the protected fields of the items of a verified body, in
// order. It verifies nothing.
//
// The error is ErrMalformed: no item, more than 100, or a field that is not of
// its form. Only the merchant's reference may contain a colon: the fields are
// joined by colons to be signed, and could otherwise be parted anew.
func ParseAdyen(body []byte) ([]AdyenItem, error) {
	signed, err := readAdyen(body)
	if err != nil {
		return nil, err
	}
	items := make([]AdyenItem, len(signed))
	for i, item := range signed {
		items[i] = item.AdyenItem
	}
	return items, nil
}

type signedItem struct {
	AdyenItem
	signature string
}

// sign makes the item's signature, in base64.
func (i AdyenItem) sign(key *hmacKey) string {
	text := strings.Join([]string{
		i.PSPReference, i.OriginalReference, i.MerchantAccount, i.MerchantReference,
		strconv.FormatInt(i.Value, 10), i.Currency, i.EventCode, strconv.FormatBool(i.Success),
	}, ":")
	return strict.EncodeToString(hmacSHA256(key.secret(), text, nil))
}

// adyenBody is the part of a notification that is looked at.
type adyenBody struct {
	Items []struct {
		Item *adyenFields `json:"NotificationRequestItem"`
	} `json:"notificationItems"`
}

type adyenFields struct {
	AdditionalData struct {
		HMACSignature string `json:"hmacSignature"`
	} `json:"additionalData"`
	Amount struct {
		Value    int64  `json:"value"`
		Currency string `json:"currency"`
	} `json:"amount"`
	PSPReference        string `json:"pspReference"`
	OriginalReference   string `json:"originalReference"`
	MerchantAccountCode string `json:"merchantAccountCode"`
	MerchantReference   string `json:"merchantReference"`
	EventCode           string `json:"eventCode"`
	Success             string `json:"success"`
}

func readAdyen(body []byte) ([]signedItem, error) {
	var read adyenBody
	if decodeOne(body, &read) != nil {
		return nil, badBody("adyen", "not JSON of notification items")
	}
	if n := len(read.Items); n == 0 || n > maxAdyenItems {
		return nil, badBody("adyen", "it has 1 to 100 items")
	}
	items := make([]signedItem, len(read.Items))
	for i, one := range read.Items {
		if one.Item == nil {
			return nil, badBody("adyen", "an item is empty")
		}
		f := one.Item
		items[i] = signedItem{signature: f.AdditionalData.HMACSignature, AdyenItem: AdyenItem{
			PSPReference: f.PSPReference, OriginalReference: f.OriginalReference,
			MerchantAccount: f.MerchantAccountCode, MerchantReference: f.MerchantReference,
			Value: f.Amount.Value, Currency: f.Amount.Currency,
			EventCode: f.EventCode, Success: f.Success == "true",
		}}
		if f.Success != "true" && f.Success != "false" {
			return nil, badBody("adyen", "success is neither true nor false")
		}
		if reason := items[i].wrong(); reason != "" {
			return nil, badBody("adyen", reason)
		}
	}
	return items, nil
}

// wrong says which field could be read in two ways, or nothing.
func (i AdyenItem) wrong() string {
	switch {
	case i.PSPReference == "":
		return "no pspReference"
	case strings.ContainsAny(i.PSPReference+i.OriginalReference+i.MerchantAccount, ":"):
		return "a colon in a reference"
	case i.EventCode == "" || strings.Trim(i.EventCode, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "":
		return "eventCode is not of capital letters"
	case i.Currency != "" && (len(i.Currency) != 3 || strings.Trim(i.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		return "currency is not of three letters"
	}
	return ""
}

// decodeOne reads one JSON document and refuses what follows it.
func decodeOne(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return ErrMalformed
	}
	return nil
}

// badBody is the error of a body that is not of the scheme's form.
func badBody(scheme, reason string) error {
	return fmt.Errorf("webhook body of %s: %w: %s", scheme, ErrMalformed, reason)
}

// AdyenSigner makes notifications as Adyen does, for tests. The zero value
// refuses to sign, with [ErrNoSecret].
type AdyenSigner struct{ key *hmacKey }

// NewAdyenSigner returns a signer with an HMAC key in hexadecimal. The error is
// a [SecretError], as of [NewAdyen].
func NewAdyenSigner(secret Secret) (*AdyenSigner, error) {
	keys, err := adyenKeys([]Secret{secret})
	if err != nil {
		return nil, err
	}
	return &AdyenSigner{key: keys[0]}, nil
}

// Sign returns the body of one POST with the items, each signed. The error is
// ErrMalformed where [ParseAdyen] would refuse it.
func (s *AdyenSigner) Sign(items ...AdyenItem) ([]byte, error) {
	if s == nil || s.key == nil {
		return nil, ErrNoSecret
	}
	var body adyenBody
	body.Items = make([]struct {
		Item *adyenFields `json:"NotificationRequestItem"`
	}, len(items))
	for n, i := range items {
		f := &adyenFields{
			PSPReference: i.PSPReference, OriginalReference: i.OriginalReference,
			MerchantAccountCode: i.MerchantAccount, MerchantReference: i.MerchantReference,
			EventCode: i.EventCode, Success: strconv.FormatBool(i.Success),
		}
		f.Amount.Value, f.Amount.Currency = i.Value, i.Currency
		f.AdditionalData.HMACSignature = i.sign(s.key)
		body.Items[n].Item = f
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, badBody("adyen", "it cannot be written")
	}
	if _, err := readAdyen(raw); err != nil {
		return nil, err
	}
	return raw, nil
}
