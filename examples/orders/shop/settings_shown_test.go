package shop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// printed is v in all the ways in which a program shows one.
func printed(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		_, _ = fmt.Fprintf(&out, verb+"\n", v)
		_, _ = fmt.Fprintf(&out, verb+"\n", struct{ V any }{v})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("it", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("it", "v", v)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	out.Write(text)
	return out.String()
}

// Who logs what the service is made of gives no secret away.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	api, err := shop.NewRefundAPI("https://pay.example/v1", webhook.NewSecret("sesame"))
	require.NoError(t, err)
	text := printed(t, api)
	require.Contains(t, text, "provider at https://pay.example/v1")
	require.NotContains(t, text, "sesame")
	require.NotContains(t, fmt.Sprintf("%+v %#v", *api, *api), "sesame", "a copy")
	require.NotContains(t, fmt.Sprintf("%+v", struct{ api *shop.RefundAPI }{api}), "sesame", "a field of another's")
	var none *shop.RefundAPI
	require.Equal(t, "no provider", fmt.Sprint(none))
	require.NotContains(t, fmt.Sprintf("%+v", shop.Config{Refunds: api}), "sesame")

	for _, database := range []string{"postgres://ann:sesame@db/orders", "postgres://db/orders?password=sesame", "host=db password=sesame", "postgres://ann:sesame@db:port/orders"} {
		s, err := shop.ReadSettings(env("DATABASE_URL", database, "STUDIO_DATABASE_URL", database, "REDIS_URL", "redis://:sesame@cache:6379", "ADDR", ":9",
			"PROVIDER_URL", "https://pay.example/v1", "PROVIDER_TOKEN", "sesame", "WEBHOOK_SECRET_STRIPE", "sesame"))
		require.NoError(t, err)
		text := printed(t, s)
		require.NotContains(t, text, "sesame")
		require.Contains(t, text, "redis://cache:6379")
		require.Equal(t, database, s.DatabaseURL, "it is what it is")
		require.Equal(t, "sesame", s.ProviderToken.Reveal())
	}
}
