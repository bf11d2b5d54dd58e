package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

const (
	adyenSecret = "DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00"
	adyenOther  = "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF"
	adyenVector = "ipnxGCaUZ4l8TUW75a71/ghd2Fe5ffvX0pV4TLTntIc=" // published
	adyenFields = `"pspReference":"pspReference","originalReference":"originalReference","merchantAccountCode":"merchantAccount",` +
		`"merchantReference":"reference","amount":{"value":1000,"currency":"EUR"},"eventCode":"EVENT","success":"true"`
)

var adyenItem = webhook.AdyenItem{
	PSPReference: "pspReference", OriginalReference: "originalReference", MerchantAccount: "merchantAccount",
	MerchantReference: "reference", Value: 1000, Currency: "EUR", EventCode: "EVENT", Success: true,
}

func adyenBody(items ...string) []byte {
	return []byte(`{"live":"false","notificationItems":[` + strings.Join(items, ",") + `]}`)
}

func adyenOf(fields, signature string) string {
	return `{"NotificationRequestItem":{` + fields + `,"additionalData":{"hmacSignature":"` + signature + `"}}}`
}

func newAdyen(t *testing.T, secrets ...string) *webhook.Adyen {
	t.Helper()
	v, err := webhook.NewAdyen(webhook.Secrets(secrets...))
	require.NoError(t, err)
	return v
}

func TestAdyenVector(t *testing.T) {
	t.Parallel()
	body := adyenBody(adyenOf(adyenFields+`,"reason":"anything"`, adyenVector))
	d, err := newAdyen(t, adyenOther, adyenSecret).Verify(nil, body, time.Time{})
	require.NoError(t, err)
	require.Equal(t, webhook.Delivery{Secret: 1}, d)
	items, err := webhook.ParseAdyen(body)
	require.NoError(t, err)
	require.Equal(t, []webhook.AdyenItem{adyenItem}, items)
}

// A field that is empty, or not there, keeps its place between the colons. The
// signatures were made with the openssl command; one POST brings both items.
func TestAdyenEmptyFields(t *testing.T) {
	t.Parallel()
	const (
		paid = `"pspReference":"psp-1","originalReference":"","merchantAccountCode":"Shop","merchantReference":"order-7",` +
			`"amount":{"value":1130,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true"`
		report = `"pspReference":"psp-2","merchantAccountCode":"Shop","eventCode":"REPORT_AVAILABLE","success":"false"`
	)
	body := adyenBody(
		adyenOf(paid, "icr4qCt4ix2Wwx4TAqSrBAPPa1L+4LYK5L/ujNiB6aU="),
		adyenOf(report, "rlBiFSz8RD5TlKPW2FhI3GlVXnTO4TpEPo5ixLrXMj0="))
	_, err := newAdyen(t, adyenSecret).Verify(nil, body, time.Time{})
	require.NoError(t, err)
	items, err := webhook.ParseAdyen(body)
	require.NoError(t, err)
	require.Equal(t, []webhook.AdyenItem{
		{PSPReference: "psp-1", MerchantAccount: "Shop", MerchantReference: "order-7", Value: 1130, Currency: "EUR", EventCode: "AUTHORISATION", Success: true},
		{PSPReference: "psp-2", MerchantAccount: "Shop", EventCode: "REPORT_AVAILABLE"},
	}, items)
}

// Every protected field counts, and one bad item refuses the good ones.
func TestAdyenRefuses(t *testing.T) {
	t.Parallel()
	good := adyenOf(adyenFields, adyenVector)
	changed := func(old, new string) string { return adyenOf(strings.Replace(adyenFields, old, new, 1), adyenVector) }
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"amount":                {adyenBody(changed("1000", "1001")), webhook.ErrSignature},
		"currency":              {adyenBody(changed("EUR", "USD")), webhook.ErrSignature},
		"success":               {adyenBody(changed(`"true"`, `"false"`)), webhook.ErrSignature},
		"event":                 {adyenBody(changed("EVENT", "REFUND")), webhook.ErrSignature},
		"reference":             {adyenBody(changed(`:"reference"`, `:"other"`)), webhook.ErrSignature},
		"account":               {adyenBody(changed(`:"merchantAccount"`, `:"other"`)), webhook.ErrSignature},
		"original":              {adyenBody(changed(`:"originalReference"`, `:""`)), webhook.ErrSignature},
		"psp":                   {adyenBody(changed(`:"pspReference"`, `:"other"`)), webhook.ErrSignature},
		"no signature":          {adyenBody(adyenOf(adyenFields, "")), webhook.ErrSignature},
		"second forged":         {adyenBody(good, changed("1000", "1")), webhook.ErrSignature},
		"first forged":          {adyenBody(changed("1000", "1"), good), webhook.ErrSignature},
		"parted anew":           {adyenBody(adyenOf(strings.NewReplacer(`:"pspReference"`, `:"pspReference:originalReference"`, `:"originalReference"`, `:"merchantAccount"`, `:"merchantAccount"`, `:"reference"`).Replace(adyenFields), adyenVector)), webhook.ErrMalformed},
		"success a word":        {adyenBody(changed(`"true"`, `"yes"`)), webhook.ErrMalformed},
		"amount with point":     {adyenBody(changed("1000", "1000.5")), webhook.ErrMalformed},
		"no items":              {adyenBody(), webhook.ErrMalformed},
		"101 items":             {adyenBody(strings.Split(strings.Repeat(good+"\x00", 100)+good, "\x00")...), webhook.ErrMalformed},
		"an empty item":         {adyenBody(`{}`), webhook.ErrMalformed},
		"not JSON":              {[]byte("x"), webhook.ErrMalformed},
		"a second document":     {append(adyenBody(good), adyenBody(good)...), webhook.ErrMalformed},
		"nothing":               {nil, webhook.ErrMalformed},
		"lower case event code": {adyenBody(changed("EVENT", "event")), webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newAdyen(t, adyenSecret).Verify(nil, c.body, time.Time{})
			require.ErrorIs(t, err, c.want)
			require.Zero(t, d)
		})
	}
}

func TestAdyenSigner(t *testing.T) {
	t.Parallel()
	s, err := webhook.NewAdyenSigner(webhook.NewSecret(adyenSecret))
	require.NoError(t, err)
	second := webhook.AdyenItem{PSPReference: "p2", MerchantReference: "a:b", EventCode: "REPORT_AVAILABLE"}
	body, err := s.Sign(adyenItem, second)
	require.NoError(t, err)
	require.Contains(t, string(body), adyenVector)
	_, err = newAdyen(t, adyenSecret).Verify(nil, body, time.Time{})
	require.NoError(t, err)
	items, err := webhook.ParseAdyen(body)
	require.NoError(t, err)
	require.Equal(t, []webhook.AdyenItem{adyenItem, second}, items)

	_, err = s.Sign()
	require.ErrorIs(t, err, webhook.ErrMalformed)
	_, err = s.Sign(webhook.AdyenItem{PSPReference: "a:b", EventCode: "X"})
	require.ErrorIs(t, err, webhook.ErrMalformed)
}

func TestAdyenSecrets(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]error{
		"": webhook.ErrNoSecret, adyenSecret[:62]: webhook.ErrMalformed, adyenSecret[:63] + "x": webhook.ErrMalformed,
		adyenSecret + "\n": webhook.ErrMalformed, strings.Repeat("0", 64): webhook.ErrNoSecret,
	} {
		_, err := webhook.NewAdyen(webhook.Secrets(secret))
		require.ErrorIs(t, err, want)
	}
	_, err := webhook.NewAdyen(nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	_, err = new(webhook.Adyen).Verify(nil, nil, time.Time{})
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	_, err = new(webhook.AdyenSigner).Sign(adyenItem)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}
