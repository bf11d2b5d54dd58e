package acceptance

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// The page's inbox takes a payment of an order, parks one whose order is not there yet,
// and passes over a genuine one that is another system's: parked, such payments would
// wait for days and end before a person.
func TestThePageTakesCallbacks(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	secret := webhook.NewSecret("whsec_page")
	signer, err := webhook.NewStripeSigner([]webhook.Secret{secret})
	require.NoError(t, err)
	mux := http.NewServeMux()
	require.NoError(t, pageInbox(t.Context(), s.pool, mux, secret, webhook.NewSecret("whsec_before"), slog.New(slog.DiscardHandler)))
	for i, tc := range []struct{ order, state, outcome string }{
		{`{"order": "` + string(key1) + `"}`, "done", "Applied"},
		{`{}`, "ignored", ""},
		{`{"order": ""}`, "ignored", ""},
		{`{"order": "` + string(key2) + `"}`, "parked", ""},
		{`{"order": "17"}`, "dead", ""},
	} {
		id := fmt.Sprintf("evt_%d", i)
		body := fmt.Sprintf(`{"id": %q, "type": "payment_intent.succeeded", "data": {"object": {"id": "pi_%d", "amount_received": %d, "metadata": %s}}}`, id, i, due, tc.order)
		header, err := signer.Sign(time.Now(), []byte(body))
		require.NoError(t, err)
		r := httptest.NewRequest(http.MethodPost, "/callbacks/stripe", strings.NewReader(body))
		r.Header = header
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, body)
		var item inbox.Item
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT state, outcome FROM fsm_inbox WHERE event_id = $1`, id).Scan(&item.State, &item.Outcome))
		require.Equal(t, tc.state, string(item.State), body)
		require.Equal(t, tc.outcome, string(item.Outcome), body)
	}
	providers, err := pageStandard(webhook.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLjkk"))
	require.NoError(t, err)
	require.Equal(t, "courier", providers[0].Name)
}

// The sweeps of the page about choosing run, with tables that are empty and with the
// retentions that it gives them.
func TestThePageForgets(t *testing.T) {
	t.Parallel()
	s := open(t)
	verifier, err := webhook.NewStripe([]webhook.Secret{webhook.NewSecret("whsec_page")})
	require.NoError(t, err)
	in, err := inbox.New(inbox.Config{Pool: s.pool, Providers: []inbox.Provider{inbox.Stripe(verifier, handle)}})
	require.NoError(t, err)
	shipping := &consume.Consumer{DB: s.pool, Name: "shipping", Lease: time.Minute, Tries: 5}
	require.NoError(t, forget(t.Context(), s.pool, &command.Command{Name: "pay"}, shipping, in))
}
