package commandhttp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

// The client's time is up while a leased handler works, which goes on to its answer:
// the client that asks again gets it, and the provider is called once.
func TestLeasedClientGone(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	begun := make(chan struct{}, 1)
	runs := make(chan struct{}, 10)
	s.charge = func(w http.ResponseWriter, r *http.Request) {
		runs <- struct{}{}
		if len(runs) == 1 {
			begun <- struct{}{}
			<-r.Context().Done() // the client hangs up, and the provider answers all the same
		}
		http.Error(w, "declined", http.StatusPaymentRequired)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.URL+routes[1], strings.NewReader(`{}`))
	require.NoError(t, err)
	r.Header.Set("Test-Tenant", "acme")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(commandhttp.KeyHeader, "k")
	sent := make(chan error, 1)
	go func() {
		response, err := s.server.Client().Do(r)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		sent <- err
	}()
	<-begun
	hangUp()
	require.ErrorIs(t, <-sent, context.Canceled)

	var got reply
	require.Eventually(t, func() bool {
		got, err = s.send(routes[1], "k", `{}`)
		return err != nil || got.status != http.StatusConflict // it is in progress until the answer is kept
	}, patience, 5*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, http.StatusPaymentRequired, got.status)
	require.Equal(t, "declined\n", got.body)
	require.Equal(t, "true", got.header.Get(commandhttp.ReplayedHeader))
	require.Len(t, runs, 1)
}
