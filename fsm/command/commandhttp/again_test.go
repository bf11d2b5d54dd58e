package commandhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

// A leased handler's transaction whose COMMIT is refused runs again. What the
// first run answered was never true: the second run's answer is sent, and kept,
// with nothing of the first one's in it.
func TestLeasedTransactionRunsAgain(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]struct {
		status int
		body   string
	}{
		"with success": {http.StatusAccepted, "charged by the second run"},
		"with refusal": {http.StatusConflict, "paid by somebody else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			runs := 0
			s.charge = func(w http.ResponseWriter, r *http.Request) {
				pool := unserializable{s.pool, new(sync.Once)}
				err := fsm.RunTx(r.Context(), pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
					runs++
					if runs == 1 {
						w.Header().Set("Location", "/payments/never")
						w.WriteHeader(http.StatusCreated)
						_, _ = fmt.Fprint(w, "charged by the first run")
					} else {
						w.WriteHeader(second.status)
						_, _ = fmt.Fprint(w, second.body)
					}
					return commandhttp.CompleteTx(ctx, tx)
				})
				if err != nil {
					http.Error(w, "try again", http.StatusServiceUnavailable)
				}
			}
			for _, replayed := range []string{"", "true"} {
				got := s.post(routes[1], "k", `{}`)
				require.Equal(t, second.status, got.status, got.body)
				require.Equal(t, second.body, got.body)
				require.Empty(t, got.header.Get("Location"))
				require.Equal(t, replayed, got.header.Get(commandhttp.ReplayedHeader))
			}
			require.Equal(t, 2, runs)
		})
	}
}

// The completion itself may be what the database refuses.
func TestLeasedCompletionIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	runs := 0
	s.charge = func(w http.ResponseWriter, r *http.Request) {
		for range 2 {
			runs++
			tx, err := s.pool.Begin(r.Context())
			require.NoError(t, err)
			if runs == 1 {
				_, err = tx.Exec(r.Context(), `SELECT 1/0`)
				require.Error(t, err) // now every statement of tx is refused
			}
			_, _ = fmt.Fprintf(w, "run %d", runs)
			if err := commandhttp.CompleteTx(r.Context(), tx); err != nil {
				require.NoError(t, tx.Rollback(r.Context()))
				continue
			}
			require.NoError(t, tx.Commit(r.Context()))
		}
	}
	for range 2 {
		require.Equal(t, "run 2", s.post(routes[1], "k", `{}`).body)
	}
}

// What is written behind a completion that committed is of no effect.
func TestWritingAfterTheCommit(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	charge := s.charge
	s.charge = func(w http.ResponseWriter, r *http.Request) {
		charge(w, r)
		w.Header().Set("Location", "/late")
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprint(w, "late", string(make([]byte, 2000)))
	}
	for range 2 {
		got := s.post(routes[1], "k", `{}`)
		require.Equal(t, http.StatusCreated, got.status)
		require.JSONEq(t, `{"id":1,"asked":"{}"}`, got.body)
		require.Equal(t, "/payments/1", got.header.Get("Location"))
	}
}
