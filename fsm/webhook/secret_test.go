package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

func sized(prefix string, n int) webhook.Secret {
	return webhook.Secret(prefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", n))))
}

func TestSecretsRefused(t *testing.T) {
	t.Parallel()
	standard := func(s []webhook.Secret) error { _, err := webhook.NewStandard(s); return err }
	signer := func(s []webhook.Secret) error { _, err := webhook.NewStandardSigner(s); return err }
	stripe := func(s []webhook.Secret) error { _, err := webhook.NewStripe(s); return err }
	stripeSigner := func(s []webhook.Secret) error { _, err := webhook.NewStripeSigner(s); return err }
	type list = []webhook.Secret
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
			err := c.make(c.secrets)
			require.ErrorIs(t, err, c.want)
			var bad *webhook.SecretError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.index, bad.Index)
			for _, s := range c.secrets {
				if len(s) > len("whsec_") {
					require.NotContains(t, err.Error(), string(s)[len("whsec_"):])
				}
			}
		})
	}
}

func TestSecretsAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range []webhook.Secret{sized("whsec_", 24), sized("whsec_", 64), secretOf(t, "whpk_", rfcPublic)} {
		_, err := webhook.NewStandard([]webhook.Secret{s})
		require.NoError(t, err)
	}
}

func TestSecretIsNotShown(t *testing.T) {
	t.Parallel()
	config := struct{ Secrets []webhook.Secret }{[]webhook.Secret{stripeSecret}}
	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	stripe, err := webhook.NewStripe(config.Secrets)
	require.NoError(t, err)
	key := []byte(stripeSecret)
	for _, shown := range []string{
		string(encoded),
		fmt.Sprintf("%v %+v %#v", config, config, config),
		fmt.Sprintf("%s %q %x", stripeSecret, stripeSecret, stripeSecret),
		fmt.Sprintf("%v %+v %#v", stripe, stripe, stripe),
	} {
		require.NotContains(t, shown, string(key))
		require.NotContains(t, shown, fmt.Sprintf("%x", key))
		require.NotContains(t, shown, strings.Trim(fmt.Sprint(key), "[]"))
	}
	require.JSONEq(t, `{"Secrets":["[secret]"]}`, string(encoded))
}
