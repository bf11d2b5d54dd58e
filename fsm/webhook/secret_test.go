package webhook_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

func sized(prefix string, n int) string {
	return prefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", n)))
}

func TestSecretsRefused(t *testing.T) {
	t.Parallel()
	standard := func(s []webhook.Secret) error { _, err := webhook.NewStandard(s); return err }
	signer := func(s []webhook.Secret) error { _, err := webhook.NewStandardSigner(s); return err }
	stripe := func(s []webhook.Secret) error { _, err := webhook.NewStripe(s); return err }
	stripeSigner := func(s []webhook.Secret) error { _, err := webhook.NewStripeSigner(s); return err }
	type list = []string
	for name, c := range map[string]struct {
		make    func([]webhook.Secret) error
		secrets list
		index   int
		want    error
	}{
		"standard: none":                 {standard, nil, -1, webhook.ErrNoSecret},
		"standard: empty":                {standard, list{""}, 0, webhook.ErrNoSecret},
		"standard: second empty":         {standard, list{stdSecret, ""}, 1, webhook.ErrNoSecret},
		"standard: blank":                {standard, list{" \n"}, 0, webhook.ErrNoSecret},
		"standard: bare prefix":          {standard, list{"whsec_"}, 0, webhook.ErrNoSecret},
		"standard: bare public prefix":   {standard, list{"whpk_"}, 0, webhook.ErrNoSecret},
		"standard: blank public key":     {standard, list{secretOf(t, "whpk_", strings.Repeat("00", 32))}, 0, webhook.ErrNoSecret},
		"standard: line end":             {standard, list{stdSecret + "\n"}, 0, webhook.ErrMalformed},
		"standard: no prefix":            {standard, list{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, 0, webhook.ErrMalformed},
		"standard: not base64":           {standard, list{stdSecret + "!"}, 0, webhook.ErrMalformed},
		"standard: 23 bytes":             {standard, list{sized("whsec_", 23)}, 0, webhook.ErrMalformed},
		"standard: 65 bytes":             {standard, list{sized("whsec_", 65)}, 0, webhook.ErrMalformed},
		"standard: public key too short": {standard, list{sized("whpk_", 31)}, 0, webhook.ErrMalformed},
		"standard: signing key":          {standard, list{secretOf(t, "whsk_", rfcSeed)}, 0, webhook.ErrMalformed},
		"signer: none":                   {signer, list{}, -1, webhook.ErrNoSecret},
		"signer: bare prefix":            {signer, list{"whsk_"}, 0, webhook.ErrNoSecret},
		"signer: public key":             {signer, list{secretOf(t, "whpk_", rfcPublic)}, 0, webhook.ErrMalformed},
		"signer: 33 bytes":               {signer, list{sized("whsk_", 33)}, 0, webhook.ErrMalformed},
		"signer: halves of two keys":     {signer, list{secretOf(t, "whsk_", rfcSeed, rfcSeed)}, 0, webhook.ErrMalformed},
		"stripe: none":                   {stripe, nil, -1, webhook.ErrNoSecret},
		"stripe: empty":                  {stripe, list{stripeSecret, ""}, 1, webhook.ErrNoSecret},
		"stripe: bare prefix":            {stripe, list{"whsec_"}, 0, webhook.ErrNoSecret},
		"stripe: line end":               {stripe, list{stripeSecret + "\n"}, 0, webhook.ErrMalformed},
		"stripe signer: none":            {stripeSigner, nil, -1, webhook.ErrNoSecret},
		"stripe signer: empty":           {stripeSigner, list{""}, 0, webhook.ErrNoSecret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.make(webhook.Secrets(c.secrets...))
			require.ErrorIs(t, err, c.want)
			var bad *webhook.SecretError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.index, bad.Index)
			for _, s := range c.secrets {
				if len(s) > len("whsec_") {
					require.NotContains(t, err.Error(), s[len("whsec_"):])
				}
			}
		})
	}
}

func TestSecretsAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range []string{sized("whsec_", 24), sized("whsec_", 64), secretOf(t, "whpk_", rfcPublic)} {
		_, err := webhook.NewStandard(webhook.Secrets(s))
		require.NoError(t, err)
	}
}

// requireHidden looks for a text in what was printed, as it is and as its bytes.
func requireHidden(t *testing.T, shown, text string) {
	t.Helper()
	for _, form := range []string{
		text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), strings.Trim(fmt.Sprint([]byte(text)), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(text)), "[]byte{"), "}"), base64.StdEncoding.EncodeToString([]byte(text)),
	} {
		require.NotContains(t, shown, form)
	}
}

// verbs are all that fmt has.
const verbs = "vTtbcdoOqxXUeEfFgGsp"

// A secret is printed as a placeholder wherever it is, also where fmt asks nobody:
// in the unexported field of something else, by a verb that is not for texts.
func TestSecretIsNotShown(t *testing.T) {
	t.Parallel()
	type hidden struct {
		secret  webhook.Secret
		secrets []webhook.Secret
		named   map[string]webhook.Secret
	}
	secret := webhook.NewSecret(stripeSecret)
	require.Equal(t, stripeSecret, secret.Reveal())
	require.Empty(t, webhook.Secret{}.Reveal())
	held := hidden{secret, []webhook.Secret{secret}, map[string]webhook.Secret{"a": secret}}
	config := struct{ Secrets []webhook.Secret }{held.secrets}
	for _, v := range verbs {
		for _, flag := range []string{"", "+", "#", " ", "0", "-", "9"} {
			format := "%" + flag + string(v)
			for _, value := range []any{secret, &secret, held, &held, config, &config, []any{secret}, held.named} {
				requireHidden(t, fmt.Sprintf(format, value), stripeSecret)
			}
		}
		if v != 'T' && v != 'p' {
			require.Equal(t, "[secret]", fmt.Sprintf("%"+string(v), secret))
		}
	}
	var logged bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(handler).Info("x", "secret", secret, "held", held, "config", config)
	}
	requireHidden(t, logged.String(), stripeSecret)
	require.Contains(t, logged.String(), "secret=[secret]")

	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	require.JSONEq(t, `{"Secrets":["[secret]"]}`, string(encoded))
	encoded, err = xml.Marshal(secret)
	require.NoError(t, err)
	requireHidden(t, string(encoded), stripeSecret)
	var kept bytes.Buffer
	require.NoError(t, gob.NewEncoder(&kept).Encode(config))
	requireHidden(t, kept.String(), stripeSecret)
	require.Contains(t, kept.String(), "[secret]")
}

// What is made of secrets prints none of them either.
func TestKeysAreNotShown(t *testing.T) {
	t.Parallel()
	private, public := ourPEM(t)
	signing, err := rsaOf(private.Reveal())
	require.NoError(t, err)
	seed, err := hex.DecodeString(rfcSeed)
	require.NoError(t, err)
	shared, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(stdSecret, "whsec_"))
	require.NoError(t, err)
	adyen, err := hex.DecodeString(adyenSecret)
	require.NoError(t, err)
	texts := []string{
		private.Reveal(), signing.D.String(), string(signing.D.Bytes()), stdSecret, string(shared), stripeSecret, adyenSecret, string(adyen),
		wechatAPIKey, string(seed),
	}
	made := func(v any, err error) any {
		t.Helper()
		require.NoError(t, err)
		return v
	}
	platform := []webhook.PlatformKey{{Serial: wechatSerial, Key: public}}
	for _, v := range []any{
		made(webhook.NewStandard(webhook.Secrets(stdSecret))),
		made(webhook.NewStandardSigner(webhook.Secrets(stdSecret, secretOf(t, "whsk_", rfcSeed)))),
		made(webhook.NewStripe(webhook.Secrets(stripeSecret))),
		made(webhook.NewStripeSigner(webhook.Secrets(stripeSecret))),
		made(webhook.NewAdyen(webhook.Secrets(adyenSecret))),
		made(webhook.NewAdyenSigner(webhook.NewSecret(adyenSecret))),
		made(webhook.NewAlipaySigner(private)),
		made(webhook.NewPayPalSigner(private, paypalWebhook, paypalCertURL)),
		made(webhook.NewWeChat(platform, webhook.Secrets(wechatAPIKey))),
		made(webhook.NewWeChatSigner(wechatKeyID, private, webhook.NewSecret(wechatAPIKey))),
	} {
		value := reflect.ValueOf(v).Elem().Interface()
		holder := struct{ pointer, value any }{v, value}
		for _, verb := range verbs {
			for _, flag := range []string{"", "+", "#"} {
				format := "%" + flag + string(verb)
				shown := fmt.Sprintf(format, v) + fmt.Sprintf(format, value) + fmt.Sprintf(format, holder) + fmt.Sprintf(format, &holder)
				for _, text := range texts {
					requireHidden(t, shown, text)
				}
			}
		}
	}
}

// rsaOf reads a key as the standard library does.
func rsaOf(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return key.(*rsa.PrivateKey), nil
}
