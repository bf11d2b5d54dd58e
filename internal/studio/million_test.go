package studio_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/studio"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// The page of a million orders' rows, of a studio that has just been started: how long
// until it is there with estimates, and until its figures are exact; the middle one of all
// times, and the least, which other work on the machine has disturbed least.
func BenchmarkMillionOrders(b *testing.B) {
	pool := testdb.New(b, testdb.WithMigrations(migrations.FS))
	crowd, err := os.ReadFile("../live/testdata/crowd.sql")
	require.NoError(b, err)
	for _, sql := range []string{strings.NewReplacer("SIZE", "1000000", "SPAN", "30 days").Replace(string(crowd)), "VACUUM (ANALYZE)"} {
		_, err := pool.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	var firsts, exacts []time.Duration
	b.ResetTimer()
	for range b.N {
		s, err := studio.New(b.Context(), studio.Options{Root: "../..", Paths: []string{"definitions"}, Addr: "127.0.0.1:0", Database: pool.Config().ConnString(), Log: io.Discard})
		require.NoError(b, err)
		server := httptest.NewServer(s.Handler())
		get(b, server.URL+"/m/order") // the definitions' own pictures are no part of it
		start := time.Now()
		require.Contains(b, get(b, server.URL+"/m/order/live?lang=en"), "Estimated <time")
		firsts = append(firsts, time.Since(start))
		ctx, leave := context.WithCancel(b.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events?topic="+url.QueryEscape("live/:order"), nil)
		require.NoError(b, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(b, err)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if lines.Text() == "event: live" && strings.Contains(get(b, server.URL+"/m/order/live?lang=en"), "Counted <time") {
				break
			}
		}
		exacts = append(exacts, time.Since(start))
		leave()
		_ = answer.Body.Close()
		server.Close()
		s.Close()
	}
	for of, all := range map[string][]time.Duration{"estimates": firsts, "exact": exacts} {
		slices.Sort(all)
		b.ReportMetric(float64(all[0].Milliseconds()), "least-ms-to-"+of)
		b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "ms-to-"+of)
	}
}

// get is the body of a page that is there.
func get(b *testing.B, address string) string {
	b.Helper()
	answer, err := http.Get(address)
	require.NoError(b, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(b, http.StatusOK, answer.StatusCode, address)
	body, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	return string(body)
}
