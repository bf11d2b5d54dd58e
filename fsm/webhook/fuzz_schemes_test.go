package webhook_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// FuzzAdyen: no panic, and every item that is accepted has the signature of what
// ParseAdyen tells of it, computed apart, in the body.
func FuzzAdyen(f *testing.F) {
	v, err := webhook.NewAdyen(webhook.Secrets(adyenSecret))
	require.NoError(f, err)
	key, err := hex.DecodeString(adyenSecret)
	require.NoError(f, err)
	f.Add(adyenBody(adyenOf(adyenFields, adyenVector)))
	f.Add(adyenBody(adyenOf(adyenFields, adyenVector), adyenOf(adyenFields, "")))
	f.Add([]byte(`{"notificationItems":[{"NotificationRequestItem":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := v.Verify(nil, body, time.Time{}); err != nil {
			checkError(t, err, body, adyenSecret)
			return
		}
		items, err := webhook.ParseAdyen(body)
		require.NoError(t, err)
		require.NotEmpty(t, items)
		for _, i := range items {
			text := strings.Join([]string{
				i.PSPReference, i.OriginalReference, i.MerchantAccount, i.MerchantReference,
				strconv.FormatInt(i.Value, 10), i.Currency, i.EventCode, strconv.FormatBool(i.Success),
			}, ":")
			want := base64.StdEncoding.EncodeToString(signedWith(key, text))
			// JSON may spell the signature with escapes; then it is the vector's.
			if !strings.Contains(string(body), want) && want != adyenVector {
				t.Fatalf("accepted %+v", i)
			}
		}
	})
}

// FuzzAlipay: no panic; nothing but the text that was signed is accepted, however
// it is spelled.
func FuzzAlipay(f *testing.F) {
	v, err := webhook.NewAlipay(alipayApp, []webhook.PublicKey{webhook.PublicKey(rsaPublic)})
	require.NoError(f, err)
	good := alipayForm(alipayValues(), alipayVector)
	f.Add(good, alipayAt.Unix())
	f.Add(append(good, "&a=b"...), alipayAt.Unix())
	f.Add([]byte("sign=%"), int64(0))
	f.Fuzz(func(t *testing.T, body []byte, now int64) {
		d, err := v.Verify(nil, body, time.Unix(now, 0))
		if err != nil {
			checkError(t, err, body)
			return
		}
		n, err := webhook.ParseAlipay(body)
		require.NoError(t, err)
		for name, want := range alipayValues() {
			got, _ := n.Get(name)
			require.Equal(t, want, got, name)
		}
		require.Equal(t, alipayAt, d.Timestamp)
		require.InDelta(t, alipayAt.Unix(), now, 48*60*60)
	})
}

// FuzzWeChat: no panic in verifying or decrypting; only the signed text passes,
// and only what was sealed opens.
func FuzzWeChat(f *testing.F) {
	v, err := webhook.NewWeChat([]webhook.PlatformKey{{Serial: wechatSerial, Key: webhook.PublicKey(rsaPublic)}}, webhook.Secrets(wechatAPIKey))
	require.NoError(f, err)
	f.Add("1772600767", "nonce-1", wechatSerial, wechatVector, []byte(wechatBody))
	f.Add("1772600767", "nonce-1", wechatSerial, "WECHATPAY/SIGNTEST/"+wechatVector, []byte(wechatBody))
	f.Add("", "", "", "", wechatNotice("", "nonce-of-12.", wechatSealedNo, "AEAD_AES_256_GCM"))
	f.Add("", "", "", "", wechatNotice("", "n", "", "AEAD_AES_256_GCM"))
	f.Fuzz(func(t *testing.T, stamp, nonce, serial, signature string, body []byte) {
		if n, err := v.Decrypt(body); err == nil {
			require.JSONEq(t, `{"out_trade_no":"A1"}`, string(n.Resource))
		} else {
			checkError(t, err, body, wechatAPIKey)
		}
		header := http.Header{
			"Wechatpay-Timestamp": {stamp}, "Wechatpay-Nonce": {nonce},
			"Wechatpay-Serial": {serial}, "Wechatpay-Signature": {signature},
		}
		if _, err := v.Verify(header, body, wechatAt); err != nil {
			checkError(t, err, body)
			return
		}
		require.Equal(t, []string{"1772600767", "nonce-1", wechatVector, wechatBody}, []string{stamp, nonce, signature, string(body)})
	})
}

// FuzzPayPal: no panic, nothing fetched but from the pinned host, and only the
// signed text passes. (Another body with the same CRC-32 would, too.)
func FuzzPayPal(f *testing.F) {
	f.Add("tx-1", "2027-01-02T03:04:05Z", paypalVector, paypalCertURL, []byte(paypalBody))
	f.Add("tx-1", "2027-01-02T03:04:05Z", paypalVector, "https://api.paypal.com:443/v1/notifications/certs/x", []byte(paypalBody))
	f.Fuzz(func(t *testing.T, id, stamp, signature, certURL string, body []byte) {
		s := &source{pem: rsaCert}
		v := newPayPal(t, s)
		header := paypalHeader()
		header.Set("Paypal-Transmission-Id", id)
		header.Set("Paypal-Transmission-Time", stamp)
		header.Set("Paypal-Transmission-Sig", signature)
		header.Set("Paypal-Cert-Url", certURL)
		_, err := v.Verify(header, body, paypalAt)
		if s.fetched.Load() > 0 {
			require.True(t, strings.HasPrefix(certURL, "https://api.paypal.com/v1/notifications/certs/"), certURL)
		}
		if err != nil {
			checkError(t, err, body)
			return
		}
		require.Equal(t, []string{"tx-1", "2027-01-02T03:04:05Z", paypalVector}, []string{id, stamp, signature})
	})
}
