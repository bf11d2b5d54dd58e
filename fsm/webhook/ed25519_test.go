package webhook_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// RFC 8032, section 7.1, test 1. The signature of the Standard Webhooks
// vector by this key was made with the openssl command.
const (
	rfcSeed   = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
	rfcPublic = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	rfcOnNone = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
	rfcOnStd  = "v1a,fldxM4gAKugP6nnt1hdz3sgGfZ6d99nzrMFnZOELIxbzEHoVmAb2ADpkJK7zgPePmPsle0zV9jSeGlHFG2NVAw=="
)

func secretOf(t *testing.T, prefix string, hexParts ...string) string {
	t.Helper()
	var raw []byte
	for _, part := range hexParts {
		b, err := hex.DecodeString(part)
		require.NoError(t, err)
		raw = append(raw, b...)
	}
	return prefix + base64.StdEncoding.EncodeToString(raw)
}

func TestRFC8032Key(t *testing.T) {
	t.Parallel()
	seed, err := hex.DecodeString(rfcSeed)
	require.NoError(t, err)
	key := ed25519.NewKeyFromSeed(seed)
	require.Equal(t, rfcPublic, hex.EncodeToString(key[ed25519.SeedSize:]))
	require.Equal(t, rfcOnNone, hex.EncodeToString(ed25519.Sign(key, nil)))
}

func TestStandardV1aRoundTrip(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]string{
		"seed":      secretOf(t, "whsk_", rfcSeed),
		"whole key": secretOf(t, "whsk_", rfcSeed, rfcPublic),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signer, err := webhook.NewStandardSigner(webhook.Secrets(private))
			require.NoError(t, err)
			h, err := signer.Sign(stdID, stdTime, []byte(stdBody))
			require.NoError(t, err)
			require.Equal(t, stdHeader(rfcOnStd), h)

			d, err := newStandard(t, secretOf(t, "whpk_", rfcPublic)).Verify(h, []byte(stdBody), stdTime)
			require.NoError(t, err)
			require.Equal(t, webhook.Delivery{ID: stdID, Timestamp: stdTime.UTC()}, d)
		})
	}
}

func TestStandardV1aSignatureList(t *testing.T) {
	t.Parallel()
	public := secretOf(t, "whpk_", rfcPublic)
	signature := rfcOnStd[len("v1a,"):]
	for name, c := range map[string]struct {
		list, body string
		want       error
	}{
		"alone":                  {rfcOnStd, stdBody, nil},
		"good among bad":         {stdForged + " v1a,AAAA v1a," + signature[1:] + "A " + rfcOnStd, stdBody, nil},
		"another body":           {rfcOnStd, stdBody + " ", webhook.ErrSignature},
		"told as v1":             {"v1," + signature, stdBody, webhook.ErrSignature},
		"v1 by no secret of his": {stdSignature, stdBody, webhook.ErrSignature},
		"line end inside":        {"v1a,\n" + signature, stdBody, webhook.ErrSignature},
		"line end for padding":   {"v1a," + signature[:86] + "\n\n", stdBody, webhook.ErrSignature},
		"second spelling":        {"v1a," + signature[:85] + "x==", stdBody, webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newStandard(t, public).Verify(stdHeader(c.list), []byte(c.body), stdTime)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestStandardV1AndV1aTogether(t *testing.T) {
	t.Parallel()
	v := newStandard(t, stdSecret, secretOf(t, "whpk_", rfcPublic))
	for list, secret := range map[string]int{stdSignature: 0, rfcOnStd: 1, stdForged + " " + rfcOnStd: 1} {
		d, err := v.Verify(stdHeader(list), []byte(stdBody), stdTime)
		require.NoError(t, err)
		require.Equal(t, secret, d.Secret)
	}
}
