package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// The published vector; the rolled secret's signature was made with the
// openssl command.
const (
	stripeSecret = "whsec_test_secret"
	stripeRolled = "whsec_rolled"
	stripeBody   = `{"id":"evt_test","object":"event"}`
	stripeV1     = "v1=691252e266ce41cb94d709c84e9580d4172b117a510bbc81723f657d2cd5d215"
	stripeByNew  = "v1=aa7f60ec3340a56547d369167be7957debfdcd8050491e66abf291a03aea1e18"
	stripeForged = "v1=691252e266ce41cb94d709c84e9580d4172b117a510bbc81723f657d2cd5d214"
)

var stripeTime = time.Unix(1492774577, 0)

func stripeHeader(value string) http.Header {
	return http.Header{"Stripe-Signature": {value}}
}

func newStripe(t *testing.T, secrets ...string) *webhook.Stripe {
	t.Helper()
	v, err := webhook.NewStripe(webhook.Secrets(secrets...))
	require.NoError(t, err)
	return v
}

func TestStripeHeader(t *testing.T) {
	t.Parallel()
	const stamp = "t=1492774577,"
	for name, c := range map[string]struct {
		value string
		want  error
	}{
		"vector":               {stamp + stripeV1, nil},
		"time last":            {stripeV1 + ",t=1492774577", nil},
		"good among bad":       {stamp + stripeForged + ",v1=,v1=zz,v1,,x=y,v0=00," + stripeV1, nil},
		"64 parts":             {stamp + strings.Repeat(stripeForged+",", 62) + stripeV1, nil},
		"65 parts":             {stamp + strings.Repeat(stripeForged+",", 63) + stripeV1, webhook.ErrMalformed},
		"forged":               {stamp + stripeForged, webhook.ErrSignature},
		"told as v0":           {stamp + "v0" + stripeV1[2:], webhook.ErrSignature},
		"cut short":            {stamp + stripeV1[:len(stripeV1)-2], webhook.ErrSignature},
		"not hex":              {stamp + "v1=zz", webhook.ErrSignature},
		"another time":         {"t=1492774578," + stripeV1, webhook.ErrSignature},
		"no time":              {stripeV1, webhook.ErrMalformed},
		"empty time":           {"t=," + stripeV1, webhook.ErrMalformed},
		"time twice":           {stamp + stamp + stripeV1, webhook.ErrMalformed},
		"two times":            {"t=1," + stamp + stripeV1, webhook.ErrMalformed},
		"time signed":          {"t=+1492774577," + stripeV1, webhook.ErrMalformed},
		"time padded":          {"t=01492774577," + stripeV1, webhook.ErrMalformed},
		"time overflowing":     {"t=99999999999999999999," + stripeV1, webhook.ErrMalformed},
		"no signature":         {"t=1492774577", webhook.ErrMalformed},
		"empty signature":      {stamp + "v1=", webhook.ErrMalformed},
		"not a list":           {"hello", webhook.ErrMalformed},
		"empty":                {"", webhook.ErrMissingHeader},
		"upper case hex, same": {stamp + "v1=" + strings.ToUpper(stripeV1[3:]), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newStripe(t, stripeSecret).Verify(stripeHeader(c.value), []byte(stripeBody), stripeTime)
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.Equal(t, webhook.Delivery{Timestamp: stripeTime.UTC()}, d)
			} else {
				require.Zero(t, d)
			}
		})
	}
}

func TestStripeRequests(t *testing.T) {
	t.Parallel()
	v := newStripe(t, stripeSecret)
	good := "t=1492774577," + stripeV1
	_, err := v.Verify(nil, nil, time.Time{})
	require.ErrorIs(t, err, webhook.ErrMissingHeader)
	_, err = v.Verify(http.Header{"Stripe-Signature": {good, good}}, []byte(stripeBody), stripeTime)
	require.ErrorIs(t, err, webhook.ErrMalformed)
	_, err = v.Verify(stripeHeader(good), []byte(stripeBody+"\n"), stripeTime)
	require.ErrorIs(t, err, webhook.ErrSignature)

	var none *webhook.Stripe
	for _, v := range []*webhook.Stripe{none, {}} {
		_, err = v.Verify(stripeHeader(good), []byte(stripeBody), stripeTime)
		require.ErrorIs(t, err, webhook.ErrNoSecret)
	}
}

func TestStripeRotation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secrets    []string
		signatures string
		secret     int
		want       error
	}{
		"old secret still valid": {[]string{stripeRolled, stripeSecret}, stripeV1, 1, nil},
		"new secret valid":       {[]string{stripeRolled, stripeSecret}, stripeByNew, 0, nil},
		"signed by both":         {[]string{stripeSecret}, stripeByNew + "," + stripeV1, 0, nil},
		"old secret withdrawn":   {[]string{stripeRolled}, stripeV1, 0, webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := stripeHeader("t=1492774577," + c.signatures)
			d, err := newStripe(t, c.secrets...).Verify(h, []byte(stripeBody), stripeTime)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.secret, d.Secret)
		})
	}
}

func TestStripeSigner(t *testing.T) {
	t.Parallel()
	signer, err := webhook.NewStripeSigner(webhook.Secrets(stripeSecret, stripeRolled))
	require.NoError(t, err)
	h, err := signer.Sign(stripeTime, []byte(stripeBody))
	require.NoError(t, err)
	require.Equal(t, stripeHeader("t=1492774577,"+stripeV1+","+stripeByNew), h)

	_, err = signer.Sign(time.Unix(-1, 0), nil)
	require.ErrorIs(t, err, webhook.ErrMalformed)
	var none *webhook.StripeSigner
	_, err = none.Sign(stripeTime, nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}
