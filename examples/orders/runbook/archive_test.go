package runbook_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// What a sweep has put into an archive is inspected as before, and hangs on its order.
func TestInspectArchived(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	d.command()
	d.sql("UPDATE fsm_command SET created_at = now() - interval '2 d', claimed_at = now() - interval '2 d', done_at = now() - interval '2 d', lease_until = now() - interval '2 d'")
	n, err := (&command.Command{Name: "order.create", Retention: time.Hour}).Sweep(t.Context(), d.pool, 0)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	text, err := d.run("inspect", "command", "k-1")
	require.NoError(t, err)
	got := sections(text)
	require.Equal(t, "none\n", got["command"])
	for _, part := range []string{"scope        ann\n", "status       201\n", "body\n{\n  \"order_id\": \"" + orderA + "\"\n}\n"} {
		require.Contains(t, got["archive"], part)
	}

	id := d.completed()
	n, err = (&attempt.Sweeper{DB: d.pool, Kinds: []*attempt.Kind{payout()}}).Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	d.sql("INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at) VALUES ('attempt payout', '" + id + "', 0, 'resume', '', '', 'bob', 'it was stuck', now())")
	text, err = d.run("inspect", "attempt", strings.ToUpper(id))
	require.NoError(t, err)
	got = sections(text)
	require.Equal(t, "none\n", got["attempt"])
	require.Contains(t, got["archive"], "state          SUCCEEDED\n")
	require.Contains(t, got["archive"], "re_1")
	require.Contains(t, got["audit"], "it was stuck")

	event := d.event()
	d.sql("UPDATE fsm_inbox SET state = 'done', ended_at = now() - interval '2 y', received_at = now() - interval '2 y'; UPDATE fsm_deliveries SET received_at = now() - interval '2 y', recorded_at = now() - interval '2 y'")
	verifier, err := webhook.NewStandard(webhook.Secrets("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg=="))
	require.NoError(t, err)
	nothing := func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { return fsm.Ignored, nil }
	in, err := inbox.New(inbox.Config{Pool: d.pool, Providers: []inbox.Provider{inbox.Standard("acme", verifier, nothing)}})
	require.NoError(t, err)
	swept, err := in.Sweep(t.Context(), inbox.Retention{Bodies: time.Hour, Rows: 400 * 24 * time.Hour, Archive: true})
	require.NoError(t, err)
	require.Equal(t, int64(1), swept.Events)
	text, err = d.run("inspect", "event", event)
	require.NoError(t, err)
	require.Contains(t, sections(text)["archive"], "provider     acme\n")

	text, err = d.run("inspect", "order", orderA)
	require.NoError(t, err)
	got = sections(text)
	require.Contains(t, got["commands"], "k-1")
	require.Contains(t, got["attempts"], id)
	require.Contains(t, got["inbox events"], "payment.settled")
}

// payout is a kind whose calls succeed, and are archived as soon as they have.
func payout() *attempt.Kind {
	return &attempt.Kind{
		Name: "payout", RepeatIsQuery: true, Policy: attempt.Policy{Keep: time.Nanosecond},
		Call: func(context.Context, attempt.Attempt) (attempt.Result, error) {
			return attempt.Result{Ref: "re_1"}, nil
		},
		Complete: func(context.Context, pgx.Tx, attempt.Attempt) error { return nil },
	}
}

// completed makes a call for the order's payment, and returns its id.
func (d *desk) completed() string {
	d.t.Helper()
	a, _, err := attempt.Start(d.t.Context(), d.pool, payout(), "p-1", 1)
	require.NoError(d.t, err)
	_, err = attempt.Drive(d.t.Context(), d.pool, payout(), a.ID)
	require.NoError(d.t, err)
	d.sql("UPDATE fsm_attempts SET completed_at = now() - interval '2 d'")
	return a.ID
}

// A body that is no text is shown as far as it helps; that is no mistake in the key.
func TestInspectBodiesThatAreNoText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := &command.Command{Name: "export"}
	for key, body := range map[string][]byte{"short": {0xff, 0xfe}, "long": bytes.Repeat([]byte{0xff}, 100), "text": []byte("naïve\n"), "empty": {}} {
		_, err := c.Do(t.Context(), d.pool, command.Request{Scope: "ann", Key: key, Method: "POST", Path: "/export"}, func(context.Context, pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: http.StatusOK, Body: body}, nil
		})
		require.NoError(t, err)
	}
	d.says("2 bytes that are no UTF-8: fffe\n", "inspect", "command", "short")
	d.says("100 bytes that are no UTF-8: "+strings.Repeat("ff", 32)+"…\n", "inspect", "command", "long")
	d.says(`"naïve\n"`, "inspect", "command", "text")
	d.says(`""`, "inspect", "command", "empty")

	letter := d.letter()
	d.sql(`UPDATE fsm_dead_letters SET payload = '\xff00'`)
	d.says("2 bytes that are no UTF-8: ff00\n", "inspect", "letter", letter)
	event := d.event()
	d.sql(`UPDATE fsm_deliveries SET body = '\x00ff'`)
	d.says("2 bytes that are no UTF-8: 00ff\n", "inspect", "delivery", d.value("SELECT min(id) FROM fsm_deliveries"))
	d.says("dead", "inspect", "event", event)
}
