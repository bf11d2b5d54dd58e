package webhook_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// The key of which only the public half was kept, and what the openssl command
// signed with it; the ciphertexts were made with Python's cryptography package.
var (
	//go:embed testdata/rsa.pem
	rsaPublic string
	//go:embed testdata/cert.pem
	rsaCert string
)

const (
	alipayVector = "QYpYK/xjqG/mtUVHKXR48cuaGhK0ZUiv5BKtroaIDw99/mw/whzJV0bruLe90O1In4e3SxBn0ZXkAYNjxjuOD8F9y1uvTOPzAkQvqvqg8f+b2WOd/YxeUMQDABSZQ7s74D1Bs+g9T2LmQwxVp6wWnti67W1bJD4fRKWwv5nXAvalpXltQgtt80KedG/fTwPPXDAXqPBbBFCf87fUM/S0RaqQntumlrITvix2zaM8asILa9YN/D7T1QNzU7Fuv0T/1yTRiNAUsB93oiC26Few1MMBIecus8hfrOD4tc+EWiPFXcXQnCP6IFE3JSrtF6+aWSI419qUwUPjKm2sUDi45w=="
	wechatVector = "n/y7Gkqo1mwVE0IV9Wzdv7mFksRdqqbR6TjxMwocTwsSHWJT4xQRsJFvLKp+OJ/L7MrH2nUe+gw3z8ERIMNfDnR4Tia9OrXXew0/81RxlYoHlAHdQhOz1LT7GukbpOoa8EtTbkigiJFQH4Z4C5drMkcREjJOvXD6moeo3YS9TMCRp3y5cx0YNKRsEaZ7JvcxSzK47IlrKofV0HBooAt4w5foJL/iUT8HLhvl4fI+6yq2FCFHqHJfp4LBfOprbAJAGzYHCTm7KC2o/CvSQyGobPGWCyvToptLUIJa2UxMEvQ3GlI69wKC2KaXrzVS0HDI89O1zYOMaPuQtdgRUz9BRQ=="
	paypalVector = "VgfJL/UkOBEAn+ISS7r7A5PViBv0hsg0jI823uKuqlnkbjZ0rjsGT4QZXX/PNSgmU2dRmvyhRrjmPXWQ3MWON8R6PDBGBEQn/n4GvYixBQJQBVFPLIyZ0AmpW2+lQQrRRcdbkgix+r/30dXxfdMvc9SfIYu10eiw3TAhdEPHF5F09//tDY44z/IPJijTCARam75mkC8peIAYz9n/6QuxEpyQQeFukZDxMiwZkjwdQsLalzNBGtTFBoftAavHI9HsyJk5ZwMzKHVOahInK3B1NHqS+mlmOMGD3gFWsCk7eN5u+gDSNqKREqVEjOEaiWZ16GIjbs4Kn7j9IgnvdOc3Uw=="

	wechatSealed   = "4s1Y9Vn4WOKwEhLUzyEbcI7TAiL2oJNflAzHMvGaTEsvDwDeRQ==" // associated data "transaction"
	wechatSealedNo = "4s1Y9Vn4WOKwEhLUzyEbcI7TAiL2UXfCQ7fwIYM3QXiUFt7A/w==" // without associated data
)

// ourKey is a key pair of this run.
var ourKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// ourPEM is the private key in PEM and the public key in bare base64, as Alipay
// gives it.
func ourPEM(t testing.TB) (webhook.Secret, webhook.PublicKey) {
	t.Helper()
	key, err := ourKey()
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return webhook.NewSecret(string(private)), webhook.PublicKey(base64.StdEncoding.EncodeToString(public))
}

// rsaSigned signs a text apart from the package.
func rsaSigned(t testing.TB, text string) string {
	t.Helper()
	key, err := ourKey()
	require.NoError(t, err)
	sum := sha256.Sum256([]byte(text))
	raw, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(raw)
}

func TestPublicKeysRefused(t *testing.T) {
	t.Parallel()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&short.PublicKey)
	require.NoError(t, err)
	private, public := ourPEM(t)
	for name, c := range map[string]struct {
		keys []webhook.PublicKey
		want error
	}{
		"none":          {nil, webhook.ErrNoSecret},
		"empty":         {[]webhook.PublicKey{public, ""}, webhook.ErrNoSecret},
		"blank":         {[]webhook.PublicKey{"\n"}, webhook.ErrNoSecret},
		"not base64":    {[]webhook.PublicKey{"***"}, webhook.ErrMalformed},
		"no key":        {[]webhook.PublicKey{"AAAA"}, webhook.ErrMalformed},
		"cut PEM":       {[]webhook.PublicKey{webhook.PublicKey(rsaPublic[:90])}, webhook.ErrMalformed},
		"two in one":    {[]webhook.PublicKey{webhook.PublicKey(rsaPublic + rsaPublic)}, webhook.ErrMalformed},
		"1024 bits":     {[]webhook.PublicKey{webhook.PublicKey(base64.StdEncoding.EncodeToString(der))}, webhook.ErrMalformed},
		"a private one": {[]webhook.PublicKey{webhook.PublicKey(private.Reveal())}, webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := webhook.NewAlipay("app", c.keys)
			require.ErrorIs(t, err, c.want)
			var bad *webhook.SecretError
			require.ErrorAs(t, err, &bad)
		})
	}
}

func TestPublicKeyForms(t *testing.T) {
	t.Parallel()
	_, bare := ourPEM(t)
	for _, key := range []string{rsaPublic, rsaCert, "\n" + rsaPublic + "\n", string(bare), string(bare) + "\n"} {
		_, err := webhook.NewAlipay("app", []webhook.PublicKey{webhook.PublicKey(key)})
		require.NoError(t, err)
	}
}

// The signing halves are secrets, and refuse what is none.
func TestPrivateKeysRefused(t *testing.T) {
	t.Parallel()
	_, err := webhook.NewAlipaySigner(webhook.Secret{})
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	for _, key := range []string{"***", "AAAA", rsaPublic} {
		_, err = webhook.NewAlipaySigner(webhook.NewSecret(key))
		require.ErrorIs(t, err, webhook.ErrMalformed)
		require.NotContains(t, err.Error(), strings.TrimSpace(key))
	}
	_, err = (*webhook.AlipaySigner)(nil).Sign(nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}
