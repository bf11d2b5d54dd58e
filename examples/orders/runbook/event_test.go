package runbook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// acme is an inbox of the provider acme, whose handler the test gives.
type acme struct {
	*inbox.Inbox
	signer *webhook.StandardSigner
}

func (d *desk) acme(name string, handle inbox.Handler) acme {
	d.t.Helper()
	secret := webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
	verifier, err := webhook.NewStandard([]webhook.Secret{secret})
	require.NoError(d.t, err)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{secret})
	require.NoError(d.t, err)
	in, err := inbox.New(inbox.Config{Pool: d.pool, Providers: []inbox.Provider{inbox.Standard(name, verifier, handle)}})
	require.NoError(d.t, err)
	return acme{in, signer}
}

// tells delivers an event.
func (d *desk) tells(a acme, id, body string) {
	d.t.Helper()
	header, err := a.signer.Sign(id, time.Now(), []byte(body))
	require.NoError(d.t, err)
	_, err = a.Receive(d.t.Context(), "acme", header, []byte(body))
	if !errors.Is(err, inbox.ErrUnreadable) {
		require.NoError(d.t, err)
	}
}

// opens runs the runbook with an inbox, as ann.
func (d *desk) opens(open runbook.OpenInbox, verb string, args ...string) (string, error) {
	var out bytes.Buffer
	args = append([]string{verb, "-actor", "ann", "-reason", "the provider said so"}, args...)
	err := runbook.RunWith(d.t.Context(), d.pool, open, &out, args...)
	return out.String(), err
}

func says(outcome fsm.Outcome, err error) inbox.Handler {
	return func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { return outcome, err }
}

func TestInspectInboxListsWhatHasNotEndedWell(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.says("== odd deliveries\nnone\n", "inspect", "inbox")
	early, lost := d.acme("acme", says("", inbox.ErrTooEarly)), d.acme("acme", says("", fsm.ErrUnknownWord))
	d.tells(early, "msg_parked", `{"type":"a"}`)
	d.tells(lost, "msg_dead", `{"type":"b"}`)
	d.tells(lost, "msg_odd", `{"type"`)
	d.tells(d.acme("acme", says(fsm.Applied, nil)), "msg_done", `{"type":"c"}`)
	text, err := d.run("inspect", "inbox")
	require.NoError(t, err)
	got := sections(text)
	for title, id := range map[string]string{"parked": "msg_parked", "dead": "msg_dead", "odd deliveries": "msg_odd"} {
		require.Contains(t, got[title], id, title)
		require.Equal(t, 1, strings.Count(text, id))
	}
	require.Contains(t, got["parked"], inbox.ErrTooEarly.Error())
	require.Contains(t, got["odd deliveries"], "{unreadable}")
	require.NotContains(t, text, "msg_done")
}

func TestReleaseEventProcessesItAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		handle inbox.Handler
		says   string
	}{
		{"and it works", says(fsm.Applied, nil), "the event is done, the machine says Applied\n"},
		{"and it is too early", says("", inbox.ErrTooEarly), "the event is parked: event came too early\n"},
		{"and it is a person's", says(fsm.Mismatched, nil), "the event is dead, the machine says Mismatched: the machine has this fact, and it said something else\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			event := d.event()
			in := d.acme("acme", c.handle)
			text, err := d.opens(func() (*inbox.Inbox, error) { return in.Inbox, nil }, "release", "event", event)
			require.NoError(t, err)
			require.Equal(t, c.says, text)
			d.audited("fsm_inbox", event, "replay", "dead", "received")
			text, err = d.run("inspect", "event", event)
			require.NoError(t, err)
			require.Contains(t, sections(text)["audit"], "replay")
			require.Contains(t, sections(text)["deliveries"], "msg_1")
		})
	}
}

// What cannot be released says why, and changes nothing.
func TestReleaseEventIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	event := d.event()
	applied, other := d.acme("acme", says(fsm.Applied, nil)), d.acme("other", says(fsm.Applied, nil))
	is := func(in *inbox.Inbox, err error) runbook.OpenInbox {
		return func() (*inbox.Inbox, error) { return in, err }
	}
	broken := errors.New("WEBHOOK_SECRET_STRIPE cannot be used")
	for _, c := range []struct {
		open  runbook.OpenInbox
		event string
		want  error
	}{
		{nil, event, runbook.ErrNoInbox}, {is(nil, nil), event, runbook.ErrNoInbox}, {is(nil, broken), event, broken},
		{is(other.Inbox, nil), event, runbook.ErrNoInbox}, {is(applied.Inbox, nil), event + "0", fsm.ErrNotFound},
	} {
		text, err := d.opens(c.open, "release", "event", c.event)
		require.ErrorIs(t, err, c.want)
		require.Empty(t, text)
	}
	require.Equal(t, "dead", d.value("SELECT state FROM fsm_inbox"))
	require.Equal(t, "0", d.value("SELECT count(*) FROM fsm_audit"))
	_, err := d.opens(is(other.Inbox, nil), "release", "event", event)
	require.EqualError(t, err, "no handlers of the event's provider: its settings are missing (inbox: replay: no such provider: \"acme\")")

	require.NoError(t, d.does("complete", "event", event))
	_, err = d.opens(is(applied.Inbox, nil), "release", "event", event)
	require.ErrorIs(t, err, inbox.ErrState)
	require.ErrorContains(t, err, "event "+event+" is closed")
	d.audited("fsm_inbox", event, "end", "dead", "closed")
}

// opened opens a case of the shop, and returns its number.
func (d *desk) opened(delivery string) string {
	d.t.Helper()
	var id int64
	require.NoError(d.t, d.pool.QueryRow(d.t.Context(), `INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail)
		VALUES ('stripe', $1, $2, 'payment_succeeded', 'Mismatched', 'told: 99') RETURNING id`, delivery, orderA).Scan(&id))
	return fmt.Sprint(id)
}

func TestCompleteCaseClosesIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second := d.opened("evt_1"), d.opened("evt_2")
	require.NoError(t, d.does("complete", "case", first))
	d.audited("shop_cases", first, "close", "open", "closed")
	text, err := d.run("inspect", "stuck")
	require.NoError(t, err)
	require.Contains(t, sections(text)["cases"], "id          "+second+"\n", "the one that is open, alone")
	text, err = d.run("inspect", "case", first)
	require.NoError(t, err)
	require.Contains(t, sections(text)["case"], "evt_1")
	require.Contains(t, sections(text)["audit"], "the provider said so")

	err = d.does("complete", "case", first)
	require.ErrorIs(t, err, runbook.ErrClosed)
	require.EqualError(t, err, "it is closed already")
	require.EqualError(t, d.does("complete", "case", second+"0"), "case: "+fsm.ErrNotFound.Error())
	d.audited("shop_cases", first, "close", "open", "closed") // and none of what was refused
}

// Two persons close a case at once: one did.
func TestACaseIsClosedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.opened("evt_1")
	held, err := d.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "SELECT FROM shop_cases FOR UPDATE")
	require.NoError(t, err)
	errs := make([]error, 2)
	var work sync.WaitGroup
	for i := range errs {
		work.Go(func() { errs[i] = d.does("complete", "case", id) })
	}
	for d.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") != "2" {
		require.NoError(t, t.Context().Err()) // until both are there
	}
	require.NoError(t, held.Rollback(t.Context()))
	work.Wait()
	require.Contains(t, errs, nil)
	require.ErrorIs(t, errors.Join(errs...), runbook.ErrClosed)
	d.audited("shop_cases", id, "close", "open", "closed")
}
