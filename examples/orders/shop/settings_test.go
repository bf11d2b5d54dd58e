package shop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestSettingsHaveDefaults(t *testing.T) {
	t.Parallel()
	s, err := shop.ReadSettings(env())
	require.NoError(t, err)
	require.Equal(t, shop.Settings{Addr: "127.0.0.1:8080", AdminAddr: "127.0.0.1:9464", StudioAddr: "127.0.0.1:7295", ProviderTimeout: 10 * time.Second, ShutdownTimeout: 15 * time.Second, SweepEvery: time.Second,
		Limit: shop.Limit{PerSecond: 50, Burst: 100}, CallbackLimit: shop.Limit{PerSecond: 1000, Burst: 2000}}, s)
	standard, stripe, err := s.Verifiers()
	require.NoError(t, err)
	require.Nil(t, standard)
	require.Nil(t, stripe)
}

func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	s, err := shop.ReadSettings(env("ADDR", ":9", "DATABASE_URL", "postgres://db", "REDIS_URL", "redis://cache:6379", "SHUTDOWN_TIMEOUT", "2s", "SWEEP_EVERY", "3m", "ADMIN_ADDR", ":8", "RATE_LIMIT", "0", "RATE_LIMIT_CALLBACKS", "2.5",
		"PROVIDER_URL", "https://pay.example/v1", "PROVIDER_TOKEN", "sk_1", "PROVIDER_TIMEOUT", "4s", "FSMGEN", "bin/fsmgen", "STUDIO_ADDR", ":7", "STUDIO_DATABASE_URL", "postgres://reader@db",
		"WEBHOOK_SECRET_STRIPE", "new, old", "WEBHOOK_SECRET_STANDARD", standardSecret.Reveal()))
	require.NoError(t, err)
	require.Equal(t, shop.Settings{
		Addr: ":9", AdminAddr: ":8", DatabaseURL: "postgres://db", RedisURL: "redis://cache:6379", ShutdownTimeout: 2 * time.Second, SweepEvery: 3 * time.Minute,
		ProviderURL: "https://pay.example/v1", ProviderToken: webhook.NewSecret("sk_1"), ProviderTimeout: 4 * time.Second,
		Standard: []webhook.Secret{standardSecret}, Stripe: webhook.Secrets("new", "old"),
		CallbackLimit: shop.Limit{PerSecond: 2.5, Burst: 5}, Fsmgen: "bin/fsmgen", StudioAddr: ":7", StudioDatabaseURL: "postgres://reader@db",
	}, s)
	// While the secret is rolled, a callback signed by the old one is believed.
	_, stripe, err := s.Verifiers()
	require.NoError(t, err)
	signer, err := webhook.NewStripeSigner(webhook.Secrets("old"))
	require.NoError(t, err)
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	header, err := signer.Sign(now, []byte("{}"))
	require.NoError(t, err)
	_, err = stripe.Verify(header, []byte("{}"), now)
	require.NoError(t, err)
}

func TestBadSettingsAreAllNamedWithoutTheirValues(t *testing.T) {
	t.Parallel()
	_, err := shop.ReadSettings(env("ADDR", "here", "ADMIN_ADDR", "sesame", "STUDIO_ADDR", "sesame", "REDIS_URL", "sesame:6379", "SHUTDOWN_TIMEOUT", "soon", "SWEEP_EVERY", "-1s", "RATE_LIMIT", "NaN", "RATE_LIMIT_CALLBACKS", "-1",
		"WEBHOOK_SECRET_STANDARD", "sesame", "WEBHOOK_SECRET_STRIPE", "good,"))
	var setting *shop.SettingError
	require.ErrorAs(t, err, &setting)
	for _, name := range []string{"ADDR", "ADMIN_ADDR", "STUDIO_ADDR", "REDIS_URL", "SHUTDOWN_TIMEOUT", "SWEEP_EVERY", "RATE_LIMIT", "RATE_LIMIT_CALLBACKS", "WEBHOOK_SECRET_STANDARD", "WEBHOOK_SECRET_STRIPE"} {
		require.ErrorContains(t, err, name)
	}
	require.NotContains(t, err.Error(), "sesame")
}

func TestThePortsBesideTheServices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ addr, set, want string }{
		{"", "", "127.0.0.1:9464"},
		{":8080", "", "127.0.0.1:9464"},
		{"127.0.0.1:0", "", "127.0.0.1:0"},
		{"127.0.0.1:0", "127.0.0.1:9", "127.0.0.1:9"},
		{"", "off", ""},
	} {
		s, err := shop.ReadSettings(env("ADDR", c.addr, "ADMIN_ADDR", c.set, "STUDIO_ADDR", c.set))
		require.NoError(t, err)
		require.Equal(t, c.want, s.AdminAddr)
		require.Equal(t, strings.Replace(c.want, "9464", "7295", 1), s.StudioAddr)
	}
}
