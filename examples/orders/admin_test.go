package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

var adminListening = regexp.MustCompile(`msg="admin listening" addr=(\S+)`)

// The program serves metrics of its calls, and health, on the operator's port; and is
// not ready while the database lacks a migration that it knows.
func TestTheOperatorsPort(t *testing.T) {
	t.Parallel()
	database := testdb.URL(t)
	p := startWith(t, database, "", "ADMIN_ADDR=127.0.0.1:0", "OTEL_SERVICE_NAME=")
	unasked := startWith(t, database, "", "ADMIN_ADDR=127.0.0.1:0") // whose answers cannot be of before
	p.awaited()
	status, body := p.get("/metrics")
	require.Equal(t, http.StatusOK, status)
	for _, line := range []string{
		`pawl_calls_total{pawl_event="create",pawl_machine="order",pawl_outcome="Applied",pawl_provisional="false"} 1`,
		`pawl_deadline_overdue{pawl_machine="refund"} 0`,
		`pawl_backlog_up{pawl_part="inbox"} 1`,
		`db_client_connection_max{db_client_connection_pool_name="orders"} 16`,
	} {
		require.Contains(t, body, line+"\n")
	}
	require.Contains(t, body, "go_goroutines ")
	require.Regexp(t, `(?m)^target_info\{.*service_name="orders"`, body)
	require.NotContains(t, body, "otel_scope")
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body = p.get(path)
		require.Equal(t, http.StatusOK, status, body)
	}
	status, _ = p.get("/orders/" + strings.Repeat("0", 8))
	require.Equal(t, http.StatusNotFound, status, "customers do not come here")
	status, _ = p.do("GET", "/metrics", "", http.Header{})
	require.Equal(t, http.StatusNotFound, status, "and operators not there")
	status, _ = p.do("GET", "/debug/counters", "", http.Header{})
	require.Equal(t, http.StatusNotFound, status)
	status, _ = p.get("/debug/counters")
	require.Equal(t, http.StatusOK, status)

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	require.NoError(t, err)
	status, body = unasked.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "the database is not as the program needs it")
}

// get asks on the operator's port.
func (p *process) get(path string) (status int, body string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "GET", "http://"+p.admin+path, nil)
	require.NoError(p.t, err)
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(p.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	require.NoError(p.t, answer.Body.Close())
	return answer.StatusCode, string(text)
}
