package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestRunbookReadsTheServicesDatabase(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	var out bytes.Buffer
	require.Equal(t, 0, lookAfter(t.Context(), url, &out, []string{"inspect", "stuck"}))
	require.Contains(t, out.String(), "== cases\nnone\n")
	require.Equal(t, 1, lookAfter(t.Context(), url, &out, []string{"inspect", "command", "k"}))
	require.Equal(t, 2, lookAfter(t.Context(), url, &out, []string{"inspect"}))
	require.Equal(t, 2, lookAfter(t.Context(), "", &out, []string{"inspect", "stuck"}))
	require.Equal(t, 2, lookAfter(t.Context(), "postgres://%zz", &out, []string{"inspect", "stuck"}))
	require.Equal(t, 1, lookAfter(t.Context(), "postgres://127.0.0.1:1/none", &out, []string{"inspect", "stuck"}))
}

// Who asks how it is called is told so, without a database too.
func TestRunbookSaysHowItIsCalled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}, {"release", "-h"}, {"inspect", "order", "-h"}, {"complete", "case", "1", "-h"}} {
		var out bytes.Buffer
		require.Equal(t, 0, lookAfter(t.Context(), "", &out, args), "%q", args)
		require.Equal(t, runbook.Usage+"\n", out.String())
	}
	for _, args := range [][]string{{}, {"look"}, {"release", "case", "1"}} {
		var out bytes.Buffer
		require.Equal(t, 2, lookAfter(t.Context(), "", &out, args), "%q", args)
	}
}

// What is wrong with a call is told in a line; how it is called only where not even
// the verb is known, in a few.
func TestRunbookSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		lines int
		want  string
	}{
		{[]string{}, 5, "usage: want inspect, release or complete: a verb is missing\nusage: orders runbook inspect "},
		{[]string{"look"}, 5, `there is no verb "look"`},
		{[]string{"complete", "case", "1"}, 1, "-actor and -reason are missing: who does this, and why"},
		{[]string{"inspect", "order", "nix"}, 1, "a UUID such as"},
		{[]string{"complete", "order", "nix", "PAID", "-actor", "ann", "-reason", "so"}, 1, "a UUID such as"},
		{[]string{"release", "attempt", "nix", "-actor", "ann", "-reason", "so"}, 1, "a UUID such as"},
	} {
		_, err := runbook.Parse(nil, c.args...)
		var out bytes.Buffer
		require.Equal(t, 2, ended(&out, err), "%q", c.args)
		require.Contains(t, out.String(), c.want)
		require.Equal(t, c.lines, strings.Count(out.String(), "\n"), out.String())
	}
}

// A callback that came before its order waits; a person releases it when the order
// is there, by the service's own handlers.
func TestRunbookReleasesACallback(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	verifier, err := webhook.NewStandard([]webhook.Secret{killSecret})
	require.NoError(t, err)
	service, err := shop.New(shop.Config{Pool: pool, Standard: verifier, Inbox: true, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	p := &process{t: t, url: server.URL}
	require.Equal(t, http.StatusOK, p.tell())
	release := func() (int, string) {
		var out bytes.Buffer
		return lookAfter(t.Context(), url, &out, []string{"release", "-actor", "ann", "-reason", "the order is there", "event", "1"}), out.String()
	}
	code, text := release()
	require.Equal(t, 0, code)
	require.Contains(t, text, "the event is parked: ")
	p.awaited()
	code, text = release()
	require.Equal(t, 0, code)
	require.Equal(t, "the event is done, the machine says Applied\n", text)
	code, text = release()
	require.Equal(t, 1, code)
	require.Empty(t, text)
	var audited string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT string_agg(concat_ws(' ', action, from_status, actor, reason), ', ') FROM fsm_audit WHERE machine = 'fsm_inbox' AND key = '1'").Scan(&audited))
	require.Equal(t, "replay parked ann the order is there, replay parked ann the order is there", audited)
}
