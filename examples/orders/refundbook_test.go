package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// A person settles, by the runbook, what the shop could not: the shop ends it, once.
func TestRunbookSettlesARefund(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what []string // after the attempt's id
		verb string
		want string
	}{
		{nil, "release", "PAID 40 | SUCCEEDED | r-1 -40 | SUCCEEDED"},
		{[]string{"succeeded", "re_7"}, "complete", "PAID 40 | SUCCEEDED | r-1 -40 | SUCCEEDED"},
		{[]string{"refused", "account_closed"}, "complete", "PAID 0 | CLOSED | nothing booked | REFUSED"},
	} {
		t.Run(c.verb+strings.Join(c.what, " "), func(t *testing.T) {
			t.Parallel()
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			pool, err := pgxpool.New(t.Context(), url)
			require.NoError(t, err)
			defer pool.Close()
			bank := newBank(t, false)
			bank.silent.Store(true)
			service := shopOf(t, pool, bank)
			value := func(sql string) (text string) {
				require.NoError(t, pool.QueryRow(t.Context(), "SELECT ("+sql+")::text").Scan(&text))
				return text
			}
			for range 2 { // that is all the rounds that it has
				n, err := service.RefundCompleter().Once(t.Context())
				require.NoError(t, err)
				require.Zero(t, n)
			}
			var out bytes.Buffer
			require.Equal(t, 0, lookAfter(t.Context(), url, &out, []string{"inspect", "stuck"}))
			id := value("SELECT id FROM fsm_attempts")
			require.Contains(t, out.String(), id)
			bank.silent.Store(false)
			args := append([]string{c.verb, "-actor", "ann", "-reason", "they said so on the telephone", "attempt", id}, c.what...)
			require.Equal(t, 0, lookAfter(t.Context(), url, &out, args))
			require.Equal(t, "1", value("SELECT count(*) FROM fsm_audit WHERE actor = 'ann'"))
			n, err := service.RefundCompleter().Once(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, c.want, value(`SELECT concat_ws(' | ', (SELECT status || ' ' || refunded_cents FROM orders), (SELECT status FROM refunds),
				coalesce((SELECT number || ' ' || cents FROM shop_ledger WHERE kind = 'refund'), 'nothing booked'), (SELECT state FROM fsm_attempts))`))
			require.Equal(t, 1, lookAfter(t.Context(), url, &out, args), "it waits for nobody any more")
		})
	}
}

// shopOf is a shop with the bank and an order of which a part is to go back.
func shopOf(t *testing.T, pool *pgxpool.Pool, b *bank) *shop.Service {
	t.Helper()
	verifier, err := webhook.NewStandard([]webhook.Secret{killSecret})
	require.NoError(t, err)
	api, err := shop.NewRefundAPI(b.url, webhook.NewSecret(bankToken))
	require.NoError(t, err)
	service, err := shop.New(shop.Config{
		Pool: pool, Standard: verifier, Refunds: api,
		RefundPolicy: attempt.Policy{Base: time.Nanosecond, Max: time.Nanosecond, MaxRounds: 2},
	})
	require.NoError(t, err)
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	p := &process{t: t, url: server.URL}
	p.paid()
	status, _ := p.refund()
	require.Equal(t, http.StatusAccepted, status)
	return service
}
