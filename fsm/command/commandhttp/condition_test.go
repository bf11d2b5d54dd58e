package commandhttp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

// Who reloads after a 412 and decides again asks another thing: under the key of
// before it is a mismatch, and not the old refusal; under a new key it is done.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	current := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if match := r.Header.Get("If-Match"); match != "" && match != `"3"` {
				http.Error(w, "reload and decide again", http.StatusPreconditionFailed)
				return
			}
			then(w, r)
		}
	}
	s.pay, s.charge = current(s.payOnce), current(s.chargeOnce)
	for i, route := range routes {
		for _, replayed := range []string{"", "true"} {
			got := s.post(route, "old", `{}`, "If-Match", `"1"`)
			require.Equal(t, http.StatusPreconditionFailed, got.status)
			require.Equal(t, replayed, got.header.Get(commandhttp.ReplayedHeader))
		}
		requireProblem(t, s.post(route, "old", `{}`, "If-Match", `"3"`), 422, "mismatch")
		requireProblem(t, s.post(route, "old", `{}`), 422, "mismatch")
		require.Equal(t, i, s.ledger())

		for _, replayed := range []string{"", "true"} {
			got := s.post(route, "new", `{}`, "If-Match", `"3"`)
			require.Equal(t, http.StatusCreated, got.status)
			require.Equal(t, replayed, got.header.Get(commandhttp.ReplayedHeader))
		}
		require.Equal(t, i+1, s.ledger())
	}
}

// Each precondition counts, whether it is there as well as its value; what is no
// precondition of a change does not.
func TestWhatIsAPrecondition(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const date = "Mon, 30 Nov 2026 10:00:00 GMT"
	for _, route := range routes {
		require.Equal(t, http.StatusCreated, s.post(route, "k", `{}`, "If-None-Match", `"1"`).status)
		for _, other := range [][]string{
			{}, {"If-Match", `"1"`}, {"If-None-Match", `*`}, {"If-None-Match", ``}, {"If-Unmodified-Since", date},
			{"If-None-Match", `"1"`, "If-Unmodified-Since", date},
		} {
			requireProblem(t, s.post(route, "k", `{}`, other...), 422, "mismatch")
		}
		again := s.post(route, "k", `{}`, "If-None-Match", `"1"`, "If-Modified-Since", date, "If-Range", `"1"`)
		require.Equal(t, "true", again.header.Get(commandhttp.ReplayedHeader), again.body)
	}
}
