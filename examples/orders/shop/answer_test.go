package shop

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
)

// serveOne answers one request by h alone.
func serveOne(t *testing.T, h handler) (*httptest.ResponseRecorder, problem) {
	t.Helper()
	s := &Service{log: slog.New(slog.DiscardHandler), timeout: defaultTimeout}
	mux := http.NewServeMux()
	mux.Handle("GET /", s.answering(h))
	w := httptest.NewRecorder()
	s.guarded(mux).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	var p problem
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	return w, p
}

func TestWhatTheProviderIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome fsm.Outcome
		err     error
		status  int
		again   string
	}{
		{outcome: fsm.Applied, status: 200},
		{outcome: fsm.Replayed, status: 200},
		{outcome: fsm.Ignored, status: 200},
		{outcome: fsm.Compensated, status: 200},
		{outcome: fsm.Mismatched, status: 200},
		{outcome: fsm.GuardFailed, status: 200},
		{outcome: fsm.Rejected, status: 409, again: "30"},
		{err: &fsm.CallError{Kind: fsm.ErrNotFound}, status: 404, again: "30"},
		{err: &fsm.CallError{Kind: fsm.ErrUnknown}, status: 503, again: "1"},
		{err: &fsm.CallError{Kind: fsm.ErrContended}, status: 503, again: "1"},
		{err: errors.New("anything"), status: 503, again: "1"},
	} {
		w, p := serveOne(t, func(w http.ResponseWriter, _ *http.Request) error {
			return (&Service{}).tellProvider(w, c.outcome, c.err)
		})
		require.Equal(t, c.status, w.Code, "%s %v", c.outcome, c.err)
		require.Equal(t, c.again, w.Header().Get("Retry-After"))
		if c.err == nil {
			require.Equal(t, c.outcome, p.Outcome)
		}
	}
}

func TestProblemOfErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
	}{
		{&fsm.CallError{Kind: fsm.ErrArgument}, 400},
		{&fsm.CallError{Kind: fsm.ErrUnknown, Err: errors.New("lost")}, 503},
		{&fsm.CallError{Kind: fsm.ErrNothingDone, Err: &pgconn.PgError{Code: "40P01"}}, 503},
		{&fsm.CallError{Kind: fsm.ErrNothingDone, Err: &pgconn.PgError{Code: "23514", Message: "row holds 4711"}}, 500},
		{&fsm.CallError{Kind: fsm.ErrNothingDone, Err: &pgconn.ConnectError{Config: &pgconn.Config{}}}, 503},
		{context.DeadlineExceeded, 503},
		{&fsm.UnknownStateError{Machine: "order", State: "LOST"}, 500},
		{&fsm.RefusedError{Outcome: fsm.Rejected}, 409},
		{&fsm.RefusedError{Outcome: fsm.Stale}, 412},
	} {
		w, p := serveOne(t, func(http.ResponseWriter, *http.Request) error { return c.err })
		require.Equal(t, c.status, w.Code, "%v", c.err)
		require.Equal(t, c.status, p.Status)
		require.NotContains(t, p.Detail, "4711")
	}
}

func TestPanicIsAProblem(t *testing.T) {
	t.Parallel()
	w, _ := serveOne(t, func(http.ResponseWriter, *http.Request) error { panic("a mistake") })
	require.Equal(t, 500, w.Code)
}

func TestEachRequestHasAnIDAndATimeLimit(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		w, _ := serveOne(t, func(w http.ResponseWriter, r *http.Request) error {
			_, limited := r.Context().Deadline()
			require.True(t, limited)
			return writeJSON(w, 200, problem{})
		})
		seen[w.Header().Get(headerRequestID)] = true
	}
	require.Len(t, seen, 2)
	require.NotContains(t, seen, "")
}

// What is known of a request whose time was over: nothing was done where the call says
// so, or where it only looked.
func TestWhatIsKnownOfALateRequest(t *testing.T) {
	t.Parallel()
	const (
		doubt   = "whether this took effect is not known; the same request again is safe"
		nothing = "nothing was done; try again"
		looked  = "the database did not answer; try again"
	)
	late := context.DeadlineExceeded
	refused := &pgconn.ConnectError{Config: &pgconn.Config{}}
	for _, c := range []struct {
		method string
		err    error
		detail string
	}{
		{"POST", late, doubt},
		{"POST", &fsm.CallError{Kind: fsm.ErrUnknown, Err: late}, doubt},
		{"POST", &fsm.CallError{Kind: fsm.ErrUnknown, Err: refused}, doubt},
		{"POST", &fsm.CallError{Kind: fsm.ErrNothingDone, Err: late}, nothing},
		{"DELETE", &fsm.CallError{Kind: fsm.ErrNothingDone, Err: context.Canceled}, nothing},
		{"POST", &fsm.CallError{Kind: fsm.ErrNothingDone, Err: refused}, nothing},
		{"GET", late, looked},
		{"GET", &fsm.CallError{Kind: fsm.ErrNothingDone, Err: late}, looked},
		{"GET", &fsm.CallError{Kind: fsm.ErrUnknown, Err: late}, looked},
		{"GET", refused, nothing},
	} {
		p := problemOf(c.method, c.err)
		require.Equal(t, c.detail, p.Detail, "%s %v", c.method, c.err)
		require.Equal(t, http.StatusServiceUnavailable, p.Status)
	}
}
