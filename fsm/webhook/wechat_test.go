package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

const (
	wechatSerial = "1234ABCD"
	wechatKeyID  = "PUB_KEY_ID_0114232134912410000000000000"
	wechatAPIKey = "0123456789abcdef0123456789ABCDEF"
	wechatBody   = `{"id":"EV-1"}`
)

var wechatAt = time.Unix(1772600767, 0)

func wechatHeader(serial, signature string) http.Header {
	return http.Header{
		"Wechatpay-Timestamp": {"1772600767"}, "Wechatpay-Nonce": {"nonce-1"},
		"Wechatpay-Serial": {serial}, "Wechatpay-Signature": {signature},
	}
}

func newWeChat(t testing.TB) *webhook.WeChat {
	t.Helper()
	_, ours := ourPEM(t)
	v, err := webhook.NewWeChat([]webhook.PlatformKey{
		{Serial: wechatKeyID, Key: ours}, {Serial: wechatSerial, Key: webhook.PublicKey(rsaCert)},
	}, webhook.Secrets("another-key-of-exactly-32-bytes!", wechatAPIKey))
	require.NoError(t, err)
	return v
}

func TestWeChatVector(t *testing.T) {
	t.Parallel()
	d, err := newWeChat(t).Verify(wechatHeader(wechatSerial, wechatVector), []byte(wechatBody), wechatAt)
	require.NoError(t, err)
	require.Equal(t, webhook.Delivery{Timestamp: wechatAt.UTC(), Secret: 1}, d)
}

func TestWeChatRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(http.Header)
		body   string
		now    time.Duration
		want   error
	}{
		"a wrong signature, sent on purpose": {func(h http.Header) {
			h.Set("Wechatpay-Signature", "WECHATPAY/SIGNTEST/"+wechatVector)
		}, wechatBody, 0, webhook.ErrSignature},
		"body":                {func(http.Header) {}, wechatBody + "\n", 0, webhook.ErrSignature},
		"nonce":               {func(h http.Header) { h.Set("Wechatpay-Nonce", "nonce-2") }, wechatBody, 0, webhook.ErrSignature},
		"stamp":               {func(h http.Header) { h.Set("Wechatpay-Timestamp", "1772600768") }, wechatBody, 0, webhook.ErrSignature},
		"the other key":       {func(h http.Header) { h.Set("Wechatpay-Serial", wechatKeyID) }, wechatBody, 0, webhook.ErrSignature},
		"an unknown key":      {func(h http.Header) { h.Set("Wechatpay-Serial", "FFFF") }, wechatBody, 0, webhook.ErrUnknownKey},
		"301 s old":           {func(http.Header) {}, wechatBody, 301 * time.Second, webhook.ErrStale},
		"301 s ahead":         {func(http.Header) {}, wechatBody, -301 * time.Second, webhook.ErrStale},
		"stamp a word":        {func(h http.Header) { h.Set("Wechatpay-Timestamp", "now") }, wechatBody, 0, webhook.ErrMalformed},
		"nonce with line end": {func(h http.Header) { h["Wechatpay-Nonce"] = []string{"a\nb"} }, wechatBody, 0, webhook.ErrMalformed},
		"two signatures":      {func(h http.Header) { h.Add("Wechatpay-Signature", "x") }, wechatBody, 0, webhook.ErrMalformed},
		"no signature":        {func(h http.Header) { h.Del("Wechatpay-Signature") }, wechatBody, 0, webhook.ErrMissingHeader},
		"no serial":           {func(h http.Header) { h.Del("Wechatpay-Serial") }, wechatBody, 0, webhook.ErrMissingHeader},
		"no nonce":            {func(h http.Header) { h.Del("Wechatpay-Nonce") }, wechatBody, 0, webhook.ErrMissingHeader},
		"no stamp":            {func(h http.Header) { h.Del("Wechatpay-Timestamp") }, wechatBody, 0, webhook.ErrMissingHeader},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := wechatHeader(wechatSerial, wechatVector)
			c.change(header)
			d, err := newWeChat(t).Verify(header, []byte(c.body), wechatAt.Add(c.now))
			require.ErrorIs(t, err, c.want)
			require.Zero(t, d)
		})
	}
}

func wechatNotice(associated, nonce, ciphertext, algorithm string) []byte {
	return fmt.Appendf(nil, `{"id":"EV-1","create_time":"2026-03-04T13:06:07+08:00","event_type":"TRANSACTION.SUCCESS","resource":`+
		`{"original_type":"transaction","algorithm":%q,"ciphertext":%q,"associated_data":%q,"nonce":%q}}`, algorithm, ciphertext, associated, nonce)
}

func TestWeChatDecrypt(t *testing.T) {
	t.Parallel()
	const nonce, gcm = "nonce-of-12.", "AEAD_AES_256_GCM"
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"with associated data":  {wechatNotice("transaction", nonce, wechatSealed, gcm), nil},
		"without":               {wechatNotice("", nonce, wechatSealedNo, gcm), nil},
		"other associated data": {wechatNotice("refund", nonce, wechatSealed, gcm), webhook.ErrDecrypt},
		"it taken away":         {wechatNotice("", nonce, wechatSealed, gcm), webhook.ErrDecrypt},
		"other nonce":           {wechatNotice("", "nonce-of-12!", wechatSealedNo, gcm), webhook.ErrDecrypt},
		"changed":               {wechatNotice("", nonce, "A"+wechatSealedNo[1:], gcm), webhook.ErrDecrypt},
		"nothing sealed":        {wechatNotice("", nonce, "", gcm), webhook.ErrDecrypt},
		"short nonce":           {wechatNotice("", "short", wechatSealedNo, gcm), webhook.ErrMalformed},
		"no nonce":              {wechatNotice("", "", wechatSealedNo, gcm), webhook.ErrMalformed},
		"other algorithm":       {wechatNotice("", nonce, wechatSealedNo, "NONE"), webhook.ErrMalformed},
		"not base64":            {wechatNotice("", nonce, "***", gcm), webhook.ErrMalformed},
		"no id":                 {[]byte(`{}`), webhook.ErrMalformed},
		"not JSON":              {[]byte("x"), webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := newWeChat(t).Decrypt(c.body)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.Zero(t, n)
				return
			}
			require.Equal(t, webhook.WeChatNotice{
				ID: "EV-1", CreateTime: n.CreateTime, EventType: "TRANSACTION.SUCCESS", OriginalType: "transaction",
				Resource: []byte(`{"out_trade_no":"A1"}`),
			}, n)
			require.True(t, n.CreateTime.Equal(wechatAt))
		})
	}
}

func TestWeChatSigner(t *testing.T) {
	t.Parallel()
	private, _ := ourPEM(t)
	s, err := webhook.NewWeChatSigner(wechatKeyID, private, webhook.NewSecret(wechatAPIKey))
	require.NoError(t, err)
	want := webhook.WeChatNotice{ID: "EV-2", CreateTime: wechatAt.UTC(), EventType: "REFUND.SUCCESS", OriginalType: "refund", Resource: []byte(`{}`)}
	body, err := s.Seal(want, "refund")
	require.NoError(t, err)
	header, err := s.Sign(wechatAt, "n", body)
	require.NoError(t, err)
	require.Equal(t, rsaSigned(t, "1772600767\nn\n"+string(body)+"\n"), header.Get("Wechatpay-Signature"))
	_, err = newWeChat(t).Verify(header, body, wechatAt)
	require.NoError(t, err)
	n, err := newWeChat(t).Decrypt(body)
	require.NoError(t, err)
	require.Equal(t, want, n)

	_, err = s.Sign(wechatAt, "", body)
	require.ErrorIs(t, err, webhook.ErrMalformed)
	_, err = s.Sign(time.Unix(-1, 0), "n", body)
	require.ErrorIs(t, err, webhook.ErrMalformed)
	_, err = s.Seal(webhook.WeChatNotice{}, "")
	require.ErrorIs(t, err, webhook.ErrMalformed)
}

func TestWeChatKeys(t *testing.T) {
	t.Parallel()
	key := webhook.PlatformKey{Serial: wechatSerial, Key: webhook.PublicKey(rsaPublic)}
	apiKeys := webhook.Secrets(wechatAPIKey)
	for name, c := range map[string]struct {
		platform []webhook.PlatformKey
		apiKeys  []webhook.Secret
		want     error
	}{
		"no platform key": {nil, apiKeys, webhook.ErrNoSecret},
		"no serial":       {[]webhook.PlatformKey{{Key: key.Key}}, apiKeys, webhook.ErrMalformed},
		"a serial twice":  {[]webhook.PlatformKey{key, key}, apiKeys, webhook.ErrMalformed},
		"no API key":      {[]webhook.PlatformKey{key}, nil, webhook.ErrNoSecret},
		"31 bytes":        {[]webhook.PlatformKey{key}, webhook.Secrets(wechatAPIKey[1:]), webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := webhook.NewWeChat(c.platform, c.apiKeys)
			require.ErrorIs(t, err, c.want)
		})
	}
	shown := fmt.Sprintf("%v %+v %#v", newWeChat(t), newWeChat(t), newWeChat(t))
	require.NotContains(t, shown, wechatAPIKey)
	require.NotContains(t, shown, strings.Trim(fmt.Sprint([]byte(wechatAPIKey)), "[]"))
	_, err := new(webhook.WeChat).Verify(nil, nil, wechatAt)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	_, err = new(webhook.WeChat).Decrypt(nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}
