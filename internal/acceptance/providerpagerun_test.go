package acceptance_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// said is one answer of a provider.
type said struct {
	status int
	body   string
}

// The page's refund is sent once, and ends as its provider says: what was accepted is
// not done, and a look-up that fails says nothing of the call.
func TestThePageCallsItsProvider(t *testing.T) {
	t.Parallel()
	const done, failed, pending = `{"number": "re_1", "status": "succeeded"}`, `{"status": "failed"}`, `{"status": "pending"}`
	for _, tc := range []struct {
		name    string
		answers []said // of the provider, one a round, from the call on
		states  []attempt.State
		refund  string
	}{
		{"done", []said{{200, done}}, []attempt.State{attempt.Succeeded}, "SUCCEEDED"},
		{"accepted, then done", []said{{202, `{}`}, {200, done}}, []attempt.State{attempt.Sent, attempt.Succeeded}, "SUCCEEDED"},
		{"pending twice, then failed", []said{{201, pending}, {200, pending}, {200, failed}},
			[]attempt.State{attempt.Sent, attempt.Sent, attempt.Refused}, "CLOSED"},
		{"refused", []said{{422, `{}`}}, []attempt.State{attempt.Refused}, "CLOSED"},
		{"in doubt, and the look-up is refused", []said{{500, ``}, {422, ``}, {200, done}},
			[]attempt.State{attempt.Unknown, attempt.Unknown, attempt.Succeeded}, "SUCCEEDED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := tc.answers[min(len(asked), len(tc.answers)-1)]
				asked = append(asked, r.Method+" "+r.Header.Get("Idempotency-Key"))
				w.WriteHeader(answer.status)
				fmt.Fprint(w, answer.body)
			}))
			defer provider.Close()
			pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
			kind := pageKind(provider.Client(), provider.URL, slog.New(slog.DiscardHandler))
			_, err := refund.Create(t.Context(), pool, refund.CreateParams{Key: "r-1", OrderID: "00000000-0000-4000-8000-000000000001", PaymentNo: "p-1", AmountCents: 50})
			require.NoError(t, err)
			require.NoError(t, pageSend(t.Context(), pool, kind, "r-1"))
			a, err := attempt.Find(t.Context(), pool, "refund", "r-1")
			require.NoError(t, err)
			want := "POST " + a.ID
			for _, state := range tc.states {
				_, _ = attempt.Drive(t.Context(), pool, kind, a.ID) // an unfinished round is told by its error too
				a, err = attempt.Get(t.Context(), pool, a.ID)
				require.NoError(t, err)
				require.Equal(t, state, a.State)
				require.Equal(t, want, asked[len(asked)-1])
				want = "GET " + a.ID
			}
			require.Len(t, asked, len(tc.answers))
			require.True(t, a.Completed())
			row, err := refund.Get(t.Context(), pool, "r-1")
			require.NoError(t, err)
			require.Equal(t, tc.refund, string(row.Status))
		})
	}
}
