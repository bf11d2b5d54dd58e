package shop_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// paths are the routes; a * is a part that is given.
var paths = []string{
	"POST /orders", "GET /orders/*", "DELETE /orders/*", "GET /orders/*/history", "POST /orders/*/pay", "POST /orders/*/ship", "POST /orders/*/receive", "POST /orders/*/refunds",
	"GET /commands/create_order/*", "GET /commands/*/x", "PUT /stock/*", "GET /stock/*", "POST /stock/*/takings", "GET /customers/*/balance", "PUT /customers/*/balance", "POST /customers/*/bookings",
	"POST /articles", "GET /articles/*", "POST /articles/*/publish", "POST /articles/*/archive", "POST /callbacks/standard", "POST /callbacks/stripe", "GET /healthz", "GET /readyz", "PATCH /*",
}

// FuzzRequest sends anything to the shop, on a real database: whatever is wrong with
// a request is its sender's fault, and told as such, in JSON, and no answer and no
// line of the log shows a secret.
func FuzzRequest(f *testing.F) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var log bytes.Buffer
	config := shop.Config{Pool: testdb.New(f, testdb.WithMigrations(migrations.FS)), Clock: func() time.Time { return at }, Log: slog.New(slog.NewTextHandler(&log, nil))}
	var err error
	config.Standard, err = webhook.NewStandard([]webhook.Secret{standardSecret})
	require.NoError(f, err)
	config.Stripe, err = webhook.NewStripe([]webhook.Secret{stripeSecret})
	require.NoError(f, err)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{standardSecret})
	require.NoError(f, err)
	service, err := shop.New(config)
	require.NoError(f, err)
	handler := service.Handler()

	bodies := []string{
		createBody(orderA), `{"payment_no":"p-1"}`, paymentOf(orderA, "p-1", 10050), noticeOf("refund.succeeded", orderA, "p-1", "r-1", 5), `{"quantity":10}`, `{"balance_cents":9223372036854775807}`, `{"amount_cents":-9223372036854775808}`,
		`{"quantity":1e3}`, `{"quantity":1.5}`, `{`, ``, `null`, `[]`, "\xff", `{"order_id":null}`, `{"a":1}{"b":2}`, `{"title":"` + strings.Repeat("x", 200) + `"}`, `{"customer_id":"\u0000"}`, `{"sku":"\ud800"}`, strings.Repeat("[", 20000), `{"body":"a\nb"}`,
	}
	for i, path := range paths {
		for j, body := range bodies {
			if (i+j)%3 == 0 {
				f.Add(uint8(i), orderA, "key-"+path, `"1"`, "application/json", body, j%2 == 0)
			}
		}
		for _, part := range []string{"mug", "0", "\x00", "%2e%2e", "'; DROP TABLE orders; --", "\u202e", strings.Repeat("k", 300), "A\xff"} {
			f.Add(uint8(i), part, `"a b"`, "W/\"x\"", "text/plain", `{"quantity":1,"version":1}`, false)
		}
	}
	f.Fuzz(func(t *testing.T, route uint8, part, key, match, kind, body string, sign bool) {
		method, path, _ := strings.Cut(paths[int(route)%len(paths)], " ")
		target := strings.ReplaceAll(path, "*", url.PathEscape(part))
		log.Reset()
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header = http.Header{"Idempotency-Key": {key}, "If-Match": {match}, "Content-Type": {kind}}
		if sign {
			header, err := signer.Sign("msg_1", at, []byte(body))
			require.NoError(t, err)
			for name, values := range header {
				r.Header[name] = values
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.Less(t, w.Code, 500, "%s %s: %s %s", method, target, w.Body.String(), log.String())
		if w.Body.Len() > 0 && w.Code != http.StatusMovedPermanently && w.Code != http.StatusTemporaryRedirect && w.Code != http.StatusPermanentRedirect {
			require.True(t, json.Valid(w.Body.Bytes()), "%d %s", w.Code, w.Body.String())
		}
		for _, secret := range []webhook.Secret{standardSecret, stripeSecret} {
			require.NotContains(t, w.Body.String()+log.String(), strings.TrimPrefix(secret.Reveal(), "whsec_"))
		}
		if strings.HasPrefix(path, "/callbacks/") && !sign {
			require.Equal(t, http.StatusUnauthorized, w.Code)
		}
	})
}
