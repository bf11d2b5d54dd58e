package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// The published vector; the second secret is the bytes 1 to 24. Signatures
// beyond the published one were made with the openssl command.
const (
	stdSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	stdOther     = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY"
	stdID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	stdStamp     = "1614265330"
	stdBody      = `{"test": 2432232314}`
	stdSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	stdBySecond  = "v1,MgneuxIdyx2BA5iLTwGJaPuHo+BBfrNLG+Yvp7hhc38="
	stdForged    = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA="
)

var stdTime = time.Unix(1614265330, 0)

func stdHeader(signature string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", stdID)
	h.Set("webhook-timestamp", stdStamp)
	h.Set("webhook-signature", signature)
	return h
}

func newStandard(t *testing.T, secrets ...string) *webhook.Standard {
	t.Helper()
	v, err := webhook.NewStandard(webhook.Secrets(secrets...))
	require.NoError(t, err)
	return v
}

func TestStandardVector(t *testing.T) {
	t.Parallel()
	d, err := newStandard(t, stdSecret).Verify(stdHeader(stdSignature), []byte(stdBody), stdTime)
	require.NoError(t, err)
	require.Equal(t, webhook.Delivery{ID: stdID, Timestamp: stdTime.UTC()}, d)
}

func TestStandardSignatureList(t *testing.T) {
	t.Parallel()
	digest := strings.TrimPrefix(stdSignature, "v1,")
	for name, c := range map[string]struct {
		list string
		want error
	}{
		"good among bad":        {stdForged + " v1, v2," + digest + " junk , " + stdSignature + " v1a," + digest, nil},
		"good twice":            {stdSignature + " " + stdSignature, nil},
		"blanks around":         {"  " + stdSignature + "  ", nil},
		"64 entries":            {strings.Repeat(stdForged+" ", 63) + stdSignature, nil},
		"65 entries":            {strings.Repeat(stdForged+" ", 64) + stdSignature, webhook.ErrMalformed},
		"forged":                {stdForged, webhook.ErrSignature},
		"other secret's":        {stdBySecond, webhook.ErrSignature},
		"unknown version":       {"v2," + digest, webhook.ErrSignature},
		"version in upper case": {"V1," + digest, webhook.ErrSignature},
		"v1 told as v1a":        {"v1a," + digest, webhook.ErrSignature},
		"cut short":             {stdSignature[:len(stdSignature)-1], webhook.ErrSignature},
		"longer":                {stdSignature + "=", webhook.ErrSignature},
		"line end inside":       {"v1,\n" + digest, webhook.ErrSignature},
		"joined by commas":      {stdSignature + "," + stdSignature, webhook.ErrSignature},
		"not base64":            {"v1,***", webhook.ErrSignature},
		"empty signature":       {"v1,", webhook.ErrMalformed},
		"empty version":         {"," + digest, webhook.ErrMalformed},
		"no version":            {digest, webhook.ErrMalformed},
		"blanks alone":          {"   ", webhook.ErrMalformed},
		"empty":                 {"", webhook.ErrMissingHeader},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newStandard(t, stdSecret).Verify(stdHeader(c.list), []byte(stdBody), stdTime)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.Zero(t, d)
			}
		})
	}
}

func TestStandardHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		values []string
		want   error
	}{
		"no id":                {"webhook-id", nil, webhook.ErrMissingHeader},
		"empty id":             {"webhook-id", []string{""}, webhook.ErrMissingHeader},
		"id twice":             {"webhook-id", []string{stdID, stdID}, webhook.ErrMalformed},
		"another id":           {"webhook-id", []string{"msg_other"}, webhook.ErrSignature},
		"full stop in id":      {"webhook-id", []string{"msg_1.5"}, webhook.ErrMalformed},
		"blank in id":          {"webhook-id", []string{"msg 1"}, webhook.ErrMalformed},
		"id not ASCII":         {"webhook-id", []string{"msg_é"}, webhook.ErrMalformed},
		"longest id":           {"webhook-id", []string{strings.Repeat("a", 1024)}, webhook.ErrSignature},
		"id too long":          {"webhook-id", []string{strings.Repeat("a", 1025)}, webhook.ErrMalformed},
		"no timestamp":         {"webhook-timestamp", nil, webhook.ErrMissingHeader},
		"timestamp twice":      {"webhook-timestamp", []string{stdStamp, "1614265331"}, webhook.ErrMalformed},
		"another timestamp":    {"webhook-timestamp", []string{"1614265331"}, webhook.ErrSignature},
		"timestamp a word":     {"webhook-timestamp", []string{"now"}, webhook.ErrMalformed},
		"timestamp signed":     {"webhook-timestamp", []string{"+" + stdStamp}, webhook.ErrMalformed},
		"timestamp negative":   {"webhook-timestamp", []string{"-1"}, webhook.ErrMalformed},
		"timestamp padded":     {"webhook-timestamp", []string{"0" + stdStamp}, webhook.ErrMalformed},
		"timestamp fractional": {"webhook-timestamp", []string{stdStamp + ".0"}, webhook.ErrMalformed},
		"timestamp huge":       {"webhook-timestamp", []string{"99999999999999999999"}, webhook.ErrMalformed},
		"timestamp in ms":      {"webhook-timestamp", []string{stdStamp + "000"}, webhook.ErrMalformed},
		"no signature":         {"webhook-signature", nil, webhook.ErrMissingHeader},
		"signature twice":      {"webhook-signature", []string{stdForged, stdSignature}, webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := stdHeader(stdSignature)
			h.Del(c.header)
			for _, v := range c.values {
				h.Add(c.header, v)
			}
			d, err := newStandard(t, stdSecret).Verify(h, []byte(stdBody), stdTime)
			require.ErrorIs(t, err, c.want)
			require.Zero(t, d)
			var bad *webhook.HeaderError
			if c.want != webhook.ErrSignature {
				require.ErrorAs(t, err, &bad)
				require.Equal(t, c.header, bad.Header)
			}
		})
	}
}

func TestStandardNothing(t *testing.T) {
	t.Parallel()
	_, err := newStandard(t, stdSecret).Verify(nil, nil, time.Time{})
	require.ErrorIs(t, err, webhook.ErrMissingHeader)

	var none *webhook.Standard
	for _, v := range []*webhook.Standard{none, {}} {
		_, err = v.Verify(stdHeader(stdSignature), []byte(stdBody), stdTime)
		require.ErrorIs(t, err, webhook.ErrNoSecret)
	}
}

// A genuine body that begins with a number must not be accepted with that
// number as its time stamp: the signed bytes are the same.
func TestStandardPartsCannotShift(t *testing.T) {
	t.Parallel()
	signer, err := webhook.NewStandardSigner(webhook.Secrets(stdSecret))
	require.NoError(t, err)
	h, err := signer.Sign("msg", time.Unix(1000, 0), []byte("2000.rest"))
	require.NoError(t, err)

	h.Set("webhook-id", "msg.1000")
	h.Set("webhook-timestamp", "2000")
	_, err = newStandard(t, stdSecret).Verify(h, []byte("rest"), time.Unix(2000, 0))
	require.ErrorIs(t, err, webhook.ErrMalformed)
}

func TestStandardBodyIsRaw(t *testing.T) {
	t.Parallel()
	v := newStandard(t, stdOther)
	h := stdHeader("v1,k9o+uT1joOG8tSNBQloX6o8m7/n/MKAYF5C8pZkPbzY=")
	h.Set("webhook-id", "msg_raw")
	_, err := v.Verify(h, []byte("\x00\xff\xfe\r\n"), stdTime)
	require.NoError(t, err)
	_, err = v.Verify(h, []byte("\x00\xff\xfe\n"), stdTime)
	require.ErrorIs(t, err, webhook.ErrSignature)
	_, err = newStandard(t, stdSecret).Verify(stdHeader(stdSignature), []byte(`{"test":2432232314}`), stdTime)
	require.ErrorIs(t, err, webhook.ErrSignature)
}

func TestStandardRotation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secrets []string
		list    string
		secret  int
		want    error
	}{
		"old secret still valid": {[]string{stdOther, stdSecret}, stdSignature, 1, nil},
		"new secret valid":       {[]string{stdOther, stdSecret}, stdBySecond, 0, nil},
		"signed by both":         {[]string{stdSecret}, stdBySecond + " " + stdSignature, 0, nil},
		"old secret withdrawn":   {[]string{stdOther}, stdSignature, 0, webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newStandard(t, c.secrets...).Verify(stdHeader(c.list), []byte(stdBody), stdTime)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.secret, d.Secret)
		})
	}
}

func TestStandardSigner(t *testing.T) {
	t.Parallel()
	signer, err := webhook.NewStandardSigner(webhook.Secrets(stdSecret, stdOther))
	require.NoError(t, err)
	h, err := signer.Sign(stdID, stdTime.Add(999*time.Millisecond), []byte(stdBody))
	require.NoError(t, err)
	require.Equal(t, stdHeader(stdSignature+" "+stdBySecond), h)

	for name, c := range map[string]struct {
		id string
		at time.Time
	}{
		"empty id":        {"", stdTime},
		"full stop in id": {"a.b", stdTime},
		"line end in id":  {"a\r\nb", stdTime},
		"before 1970":     {"a", time.Unix(-1, 0)},
		"far future":      {"a", time.Unix(100000000000, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := signer.Sign(c.id, c.at, nil)
			require.ErrorIs(t, err, webhook.ErrMalformed)
		})
	}
	var none *webhook.StandardSigner
	_, err = none.Sign("a", stdTime, nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}
