package webhook_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

const (
	paypalWebhook = "8PT597110X687430LKGECATA"
	paypalCertURL = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270"
	paypalBody    = `{"id":"WH-1"}` // its CRC-32 is 838965618
)

var paypalAt = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)

func paypalHeader() http.Header {
	return http.Header{
		"Paypal-Transmission-Id": {"tx-1"}, "Paypal-Transmission-Time": {"2027-01-02T03:04:05Z"},
		"Paypal-Transmission-Sig": {paypalVector}, "Paypal-Cert-Url": {paypalCertURL}, "Paypal-Auth-Algo": {"SHA256withRSA"},
	}
}

// source hands out the certificate and counts.
type source struct {
	fetched atomic.Int64
	err     error
	pem     string
}

func (s *source) fetch(context.Context, string) ([]byte, error) {
	s.fetched.Add(1)
	return []byte(s.pem), s.err
}

func newPayPal(t testing.TB, s *source, options ...webhook.Option) *webhook.PayPal {
	t.Helper()
	v, err := webhook.NewPayPal([]string{"OTHER", paypalWebhook}, s.fetch, options...)
	require.NoError(t, err)
	return v
}

func TestPayPalVector(t *testing.T) {
	t.Parallel()
	s := &source{pem: rsaCert}
	v := newPayPal(t, s)
	for range 3 {
		d, err := v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
		require.NoError(t, err)
		require.Equal(t, webhook.Delivery{ID: "tx-1", Timestamp: paypalAt, Secret: 1}, d)
	}
	require.Equal(t, int64(1), s.fetched.Load())
	_, err := v.Verify(paypalHeader(), []byte(paypalBody), paypalAt.Add(24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, int64(2), s.fetched.Load(), "a certificate is kept for a day")
}

func TestPayPalRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header, value string
		want          error
		fetched       int64
	}{
		"signature":           {"Paypal-Transmission-Sig", "A" + paypalVector[1:], webhook.ErrSignature, 1},
		"id":                  {"Paypal-Transmission-Id", "tx-2", webhook.ErrSignature, 1},
		"time":                {"Paypal-Transmission-Time", "2027-01-02T03:04:06Z", webhook.ErrSignature, 1},
		"time a word":         {"Paypal-Transmission-Time", "now", webhook.ErrMalformed, 0},
		"id with a bar":       {"Paypal-Transmission-Id", "a|b", webhook.ErrMalformed, 0},
		"algorithm":           {"Paypal-Auth-Algo", "SHA1withRSA", webhook.ErrMalformed, 0},
		"no algorithm":        {"Paypal-Auth-Algo", "", webhook.ErrMissingHeader, 0},
		"another host":        {"Paypal-Cert-Url", "https://api.paypal.com.evil.example/v1/notifications/certs/C", webhook.ErrMalformed, 0},
		"user info":           {"Paypal-Cert-Url", "https://api.paypal.com@evil.example/v1/notifications/certs/C", webhook.ErrMalformed, 0},
		"user at the host":    {"Paypal-Cert-Url", "https://u@api.paypal.com/v1/notifications/certs/C", webhook.ErrMalformed, 0},
		"a port":              {"Paypal-Cert-Url", "https://api.paypal.com:8443/v1/notifications/certs/C", webhook.ErrMalformed, 0},
		"without TLS":         {"Paypal-Cert-Url", strings.Replace(paypalCertURL, "https", "http", 1), webhook.ErrMalformed, 0},
		"another spelling":    {"Paypal-Cert-Url", strings.Replace(paypalCertURL, "https", "htTps", 1), webhook.ErrMalformed, 0},
		"the host's capitals": {"Paypal-Cert-Url", strings.Replace(paypalCertURL, "api", "API", 1), webhook.ErrMalformed, 0},
		"the sandbox":         {"Paypal-Cert-Url", strings.Replace(paypalCertURL, "api.", "api.sandbox.", 1), webhook.ErrMalformed, 0},
		"another path":        {"Paypal-Cert-Url", "https://api.paypal.com/upload/C", webhook.ErrMalformed, 0},
		"a path that climbs":  {"Paypal-Cert-Url", "https://api.paypal.com/v1/notifications/certs/../../x", webhook.ErrMalformed, 0},
		"a query":             {"Paypal-Cert-Url", paypalCertURL + "?x=1", webhook.ErrMalformed, 0},
		"an empty query":      {"Paypal-Cert-Url", paypalCertURL + "?", webhook.ErrMalformed, 0},
		"no address":          {"Paypal-Cert-Url", "%", webhook.ErrMalformed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &source{pem: rsaCert}
			header := paypalHeader()
			header.Set(c.header, c.value)
			d, err := newPayPal(t, s).Verify(header, []byte(paypalBody), paypalAt)
			require.ErrorIs(t, err, c.want)
			require.Zero(t, d)
			require.Equal(t, c.fetched, s.fetched.Load())
		})
	}
	s := &source{pem: rsaCert}
	_, err := newPayPal(t, s).Verify(paypalHeader(), []byte(paypalBody+" "), paypalAt)
	require.ErrorIs(t, err, webhook.ErrSignature)
}

func TestPayPalWindow(t *testing.T) {
	t.Parallel()
	s := &source{pem: rsaCert}
	v := newPayPal(t, s)
	verify := func(now time.Time) error {
		_, err := v.Verify(paypalHeader(), []byte(paypalBody), now)
		return err
	}
	require.ErrorIs(t, verify(paypalAt.Add(75*time.Hour+1)), webhook.ErrSignature, "not worth a fetch")
	require.Zero(t, s.fetched.Load())
	require.NoError(t, verify(paypalAt.Add(75*time.Hour)))
	require.ErrorIs(t, verify(paypalAt.Add(75*time.Hour+1)), webhook.ErrStale)
	require.ErrorIs(t, verify(paypalAt.Add(-5*time.Minute-1)), webhook.ErrStale)
	require.NoError(t, verify(paypalAt.Add(-5*time.Minute)))
}

func TestPayPalCertificates(t *testing.T) {
	t.Parallel()
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM([]byte(rsaCert)))
	for name, c := range map[string]struct {
		source  *source
		options []webhook.Option
		now     time.Time
		want    error
	}{
		"to a root":   {&source{pem: rsaCert}, []webhook.Option{webhook.WithRoots(trusted)}, paypalAt, nil},
		"to no root":  {&source{pem: rsaCert}, []webhook.Option{webhook.WithRoots(x509.NewCertPool())}, paypalAt, webhook.ErrKeySource},
		"unreachable": {&source{err: errors.New("down")}, nil, paypalAt, webhook.ErrKeySource},
		"a key alone": {&source{pem: rsaPublic}, nil, paypalAt, webhook.ErrKeySource},
		"nothing":     {&source{}, nil, paypalAt, webhook.ErrKeySource},
		"too large":   {&source{pem: rsaCert + strings.Repeat(" ", 64<<10)}, nil, paypalAt, webhook.ErrKeySource},
		"not yet":     {&source{pem: rsaCert}, []webhook.Option{webhook.WithTolerance(1 << 62)}, paypalAt.AddDate(-1, 0, 0), webhook.ErrKeySource},
		"no more":     {&source{pem: rsaCert}, []webhook.Option{webhook.WithMaxAge(1 << 62)}, paypalAt.AddDate(10, 0, 0), webhook.ErrKeySource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newPayPal(t, c.source, c.options...)
			for range 2 { // a failure is kept for a moment, too
				_, err := v.Verify(paypalHeader(), []byte(paypalBody), c.now)
				require.ErrorIs(t, err, c.want)
			}
			require.Equal(t, int64(1), c.source.fetched.Load())
		})
	}
}

// A flood of forged addresses asks the host for little, and the certificate that
// is kept goes on to count.
func TestPayPalBoundsFetches(t *testing.T) {
	t.Parallel()
	s := &source{pem: rsaCert}
	v := newPayPal(t, s)
	_, err := v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
	require.NoError(t, err)
	s.err = errors.New("404")
	for i := range 200 {
		header := paypalHeader()
		header.Set("Paypal-Cert-Url", fmt.Sprint("https://api.paypal.com/v1/notifications/certs/C", i))
		_, err := v.Verify(header, []byte(paypalBody), paypalAt)
		require.ErrorIs(t, err, webhook.ErrKeySource)
	}
	require.Equal(t, int64(20), s.fetched.Load())
	_, err = v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
	require.NoError(t, err)
	header := paypalHeader()
	header.Set("Paypal-Cert-Url", "https://api.paypal.com/v1/notifications/certs/new")
	s.err = nil
	_, err = v.Verify(header, []byte(paypalBody), paypalAt.Add(time.Minute))
	require.NoError(t, err, "a minute later it fetches again")
}

// flood has forged callbacks use up the fetches of a minute.
func flood(v *webhook.PayPal, now time.Time) {
	for i := range 20 {
		header := paypalHeader()
		header.Set("Paypal-Transmission-Time", now.Format(time.RFC3339))
		header.Set("Paypal-Cert-Url", fmt.Sprint("https://api.paypal.com/v1/notifications/certs/X", now.Unix(), "-", i))
		_, _ = v.Verify(header, []byte("{}"), now)
	}
}

// A flood of forged callbacks that was there first shuts a genuine one out only where
// its certificate is neither told nor met before.
func TestPayPalFloodFromTheStart(t *testing.T) {
	t.Parallel()
	newVerifier := func(options ...webhook.Option) *webhook.PayPal {
		v, err := webhook.NewPayPal([]string{paypalWebhook}, func(_ context.Context, url string) ([]byte, error) {
			if url == paypalCertURL {
				return []byte(rsaCert), nil
			}
			return nil, errors.New("404")
		}, options...)
		require.NoError(t, err)
		return v
	}
	unknown, given, met := newVerifier(), newVerifier(webhook.WithCertURLs(paypalCertURL)), newVerifier()
	_, err := met.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
	require.NoError(t, err)
	for minute := range 3 {
		now := paypalAt.Add(25*time.Hour + time.Duration(minute)*time.Minute) // what was fetched is kept no more
		for _, v := range []*webhook.PayPal{unknown, given, met} {
			flood(v, now)
			_, err := v.Verify(paypalHeader(), []byte(paypalBody), now.Add(time.Second))
			if v == unknown {
				require.ErrorIs(t, err, webhook.ErrKeySource)
			} else {
				require.NoError(t, err)
			}
		}
	}
	_, err = webhook.NewPayPal([]string{paypalWebhook}, (&source{}).fetch, webhook.WithCertURLs("https://evil.example/C"))
	require.ErrorIs(t, err, webhook.ErrKeySource)
}

// Callers at once share one fetch, and one that cannot wait fails alone.
func TestPayPalSharesAFetch(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	var fetches atomic.Int64
	v, err := webhook.NewPayPal([]string{paypalWebhook}, func(context.Context, string) ([]byte, error) {
		if fetches.Add(1) == 1 {
			close(begun)
		}
		<-release
		return []byte(rsaCert), nil
	})
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
			require.NoError(t, err)
		})
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = v.VerifyContext(ctx, paypalHeader(), []byte(paypalBody), paypalAt)
	require.ErrorIs(t, err, webhook.ErrKeySource)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	all.Wait()
	require.Equal(t, int64(1), fetches.Load())
}

func TestPayPalSigner(t *testing.T) {
	t.Parallel()
	private, _ := ourPEM(t)
	s, err := webhook.NewPayPalSigner(private, paypalWebhook, paypalCertURL)
	require.NoError(t, err)
	header, err := s.Sign("tx-1", paypalAt, []byte(paypalBody))
	require.NoError(t, err)
	require.Equal(t, rsaSigned(t, "tx-1|2027-01-02T03:04:05Z|"+paypalWebhook+"|838965618"), header.Get("PAYPAL-TRANSMISSION-SIG"))
	_, err = new(webhook.PayPalSigner).Sign("x", paypalAt, nil)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
}

func TestPayPalConfiguration(t *testing.T) {
	t.Parallel()
	s := &source{}
	_, err := webhook.NewPayPal(nil, s.fetch)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	_, err = webhook.NewPayPal([]string{""}, s.fetch)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	_, err = webhook.NewPayPal([]string{"a|b"}, s.fetch)
	require.ErrorIs(t, err, webhook.ErrMalformed)
	_, err = webhook.NewPayPal([]string{"a"}, nil)
	require.ErrorIs(t, err, webhook.ErrKeySource)
	_, err = new(webhook.PayPal).Verify(nil, nil, paypalAt)
	require.ErrorIs(t, err, webhook.ErrNoSecret)
	v := newPayPal(t, &source{pem: rsaCert}, webhook.WithSandbox())
	_, err = v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
	require.ErrorIs(t, err, webhook.ErrMalformed, "the sandbox has a host of its own")
}

// A caller who gave up says nothing of the host: the next one fetches.
func TestPayPalCallerGaveUp(t *testing.T) {
	t.Parallel()
	s := &source{pem: rsaCert}
	v, err := webhook.NewPayPal([]string{paypalWebhook}, func(ctx context.Context, url string) ([]byte, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return s.fetch(ctx, url)
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = v.VerifyContext(ctx, paypalHeader(), []byte(paypalBody), paypalAt)
	require.ErrorIs(t, err, webhook.ErrKeySource)
	_, err = v.Verify(paypalHeader(), []byte(paypalBody), paypalAt)
	require.NoError(t, err)
}
