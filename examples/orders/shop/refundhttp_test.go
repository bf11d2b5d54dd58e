package shop_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// What the provider's answers say of a refund that was sent, and of one that is
// looked up.
func TestAnswersOfTheProvider(t *testing.T) {
	t.Parallel()
	const unknown = "not known"
	for _, c := range []struct {
		status     int
		body       string
		sent, find string
	}{
		{200, `{"id":"re_1"}`, "re_1", "re_1"},
		{201, `{"id":"re_1","more":{}}`, "re_1", "re_1"},
		{200, `<html>`, unknown, unknown},
		{200, ``, unknown, unknown},
		{200, `{}`, unknown, unknown},
		{200, `{"id":"re\u0000"}`, unknown, unknown},
		{200, `{"more":"` + strings.Repeat("x", 1<<20) + `","id":"re_1"}`, unknown, unknown},
		{202, ``, "pending", "pending"},
		{302, ``, unknown, unknown},
		{400, `{"code":"bad"}`, unknown, unknown},
		{401, ``, unknown, unknown},
		{404, ``, unknown, "not there"},
		{409, ``, unknown, unknown},
		{422, `{"code":"account_closed"}`, "refused account_closed", "refused account_closed"},
		{422, `{"code":"` + strings.Repeat("x", 300) + `"}`, "refused http 422", unknown},
		{422, ``, "refused http 422", unknown},
		{429, ``, unknown, unknown},
		{500, `{"id":"re_1"}`, unknown, unknown},
		{503, ``, unknown, unknown},
	} {
		t.Run(fmt.Sprintf("%d %.40s", c.status, c.body), func(t *testing.T) {
			t.Parallel()
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = append(asked, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), string(body)}, " "))
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			api, err := shop.NewRefundAPI(server.URL+"/v1", webhook.NewSecret("sk_sesame"))
			require.NoError(t, err)
			said := func(r attempt.Result, err error) string {
				if err != nil {
					require.Empty(t, r)
					require.NotContains(t, err.Error(), "sesame")
				}
				var refused *attempt.RefusedError
				switch {
				case err == nil:
					return r.Ref
				case errors.As(err, &refused):
					return "refused " + refused.Code
				case errors.Is(err, attempt.ErrPending):
					return "pending"
				case errors.Is(err, attempt.ErrNotThere):
					return "not there"
				case errors.Is(err, attempt.ErrNotSent):
					return "not sent"
				}
				return unknown
			}
			require.Equal(t, c.sent, said(api.Refund(t.Context(), "k-1", []byte(`{"refund_no":"r-1"}`))))
			require.Equal(t, c.find, said(api.Find(t.Context(), "k-1")))
			require.Equal(t, []string{
				`POST /v1/refunds Bearer sk_sesame k-1 {"refund_no":"r-1"}`, "GET /v1/refunds/k-1 Bearer sk_sesame  ",
			}, asked)
		})
	}
}

func TestProviderThatIsAwayWasNotAsked(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	api, err := shop.NewRefundAPI(server.URL, webhook.NewSecret("sk_sesame"))
	require.NoError(t, err)
	server.Close()
	_, err = api.Refund(t.Context(), "k-1", []byte("{}"))
	require.ErrorIs(t, err, attempt.ErrNotSent)
	require.NotContains(t, err.Error(), "sesame")
}

func TestProviderSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, token, name string }{
		{"provider.example", "sk_1", "PROVIDER_URL"}, {"ftp://provider.example", "sk_1", "PROVIDER_URL"}, {"https://", "sk_1", "PROVIDER_URL"},
		{"https://ann:sesame@provider.example", "sk_1", "PROVIDER_URL"}, {"https://provider.example?key=sesame", "sk_1", "PROVIDER_URL"},
		{"https://provider.example#sesame", "sk_1", "PROVIDER_URL"}, {"https://\x00", "sk_1", "PROVIDER_URL"},
		{"https://provider.example", "", "PROVIDER_TOKEN"}, {"https://provider.example", "ses ame", "PROVIDER_TOKEN"}, {"https://provider.example", "sesame\n", "PROVIDER_TOKEN"},
	} {
		_, err := shop.ReadSettings(env("PROVIDER_URL", c.url, "PROVIDER_TOKEN", c.token))
		var setting *shop.SettingError
		require.ErrorAs(t, err, &setting, c.url)
		require.Equal(t, c.name, setting.Name)
		require.NotContains(t, err.Error(), "sesame")
	}
	_, err := shop.ReadSettings(env("PROVIDER_URL", "https://provider.example"))
	require.EqualError(t, err, "PROVIDER_TOKEN is not set, and PROVIDER_URL is: both or neither")
	s, err := shop.ReadSettings(env("PROVIDER_TOKEN", "sk_sesame"))
	require.NoError(t, err)
	refunds, err := s.Refunds()
	require.NoError(t, err)
	require.Nil(t, refunds)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", s, s, s), "sesame")
	require.Equal(t, webhook.NewSecret("sk_sesame"), s.ProviderToken)
}
