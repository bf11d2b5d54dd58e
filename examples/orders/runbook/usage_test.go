package runbook_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// Every line of the usage can be called, with words in place of its capitals.
func TestUsageIsTheWhole(t *testing.T) {
	t.Parallel()
	words := strings.NewReplacer("MACHINE/KEY", "order/1", "NUMBER", "1", "STATE", "PAID", "ROW", "1", "KEY", "1", "REF", "1", "CODE", "1", "ID", orderA, "NEW", "2")
	called := 0
	for line := range strings.SplitSeq(runbook.Usage, "\n") {
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") {
			continue
		}
		called++
		text := line[2:min(len(line), 35)] // in front of what it does
		args := append(strings.Fields(words.Replace(text)), "-actor", "ann", "-reason", "so")
		if args[0] == "inspect" {
			args = args[:len(args)-4]
		}
		_, err := runbook.Parse(nil, args...)
		require.NoError(t, err, "%q", args)
	}
	require.Equal(t, 27, called)
	page, err := os.ReadFile("../../../docs/example.md")
	require.NoError(t, err)
	_, list, _ := strings.Cut(runbook.Usage, "\n\n")
	list, _, _ = strings.Cut(list, "\n\nDATABASE_URL")
	require.Contains(t, string(page), list, "the page has the same list")
}

// Flags may stand anywhere after the verb; what is behind "--" is none.
func TestFlagsAnywhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, args := range [][]string{
		{"complete", "case", "ID", "-actor", "ann", "-reason", "the provider said so"},
		{"complete", "-actor", "ann", "case", "-reason=the provider said so", "ID"},
		{"complete", "case", "--actor", "ann", "--reason", "the provider said so", "--", "ID"},
	} {
		id := d.opened(strings.Join(args, " "))
		args[slices.Index(args, "ID")] = id
		_, err := d.run(args...)
		require.NoError(t, err, "%q", args)
	}
	require.Equal(t, "3", d.value("SELECT count(*) FROM fsm_audit WHERE actor = 'ann' AND reason = 'the provider said so'"))
	for _, args := range [][]string{{"inspect", "order", "-h"}, {"release", "case", "1", "-h"}} {
		_, err := d.run(args...)
		require.ErrorIs(t, err, flag.ErrHelp)
	}
	_, err := d.run("complete", "--", "case", "1", "-actor", "ann", "-reason", "so")
	require.ErrorIs(t, err, runbook.ErrUsage)
	_, err = d.run("inspect", "order", "1", "-actor", "ann")
	require.ErrorIs(t, err, runbook.ErrUsage)
}

// What is wrong is said before what else is missing.
func TestErrorsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"usage: want inspect, release or complete: a verb is missing":                            {},
		`usage: want inspect, release or complete: there is no verb "look"`:                      {"look", "-x"},
		`usage: there is no kind "customer"`:                                                     {"inspect", "customer", "ann"},
		"usage: inspect stuck takes no key":                                                      {"inspect", "stuck", "x"},
		"usage: inspect order takes one key":                                                     {"inspect", "order"},
		"usage: release which record? KIND and KEY are missing":                                  {"release", "-actor", "ann"},
		`usage: "release case 1" is none of these`:                                               {"release", "case", "1"},
		"usage: -reason is missing: why this is done":                                            {"complete", "case", "1", "-actor", "ann"},
		"usage: -actor is missing: who does this":                                                {"complete", "case", "1", "-actor", " ", "-reason", "so"},
		"usage: -actor is not a text of one line, of at most 1000 bytes":                         {"complete", "case", "1", "-actor", "ann\n", "-reason", "so"},
		"usage: want the id of the order, a UUID such as 7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b11":   {"inspect", "order", "nix"},
		"usage: want the id of the attempt, a UUID such as 7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b11": {"complete", "attempt", "1", "refused", "no_funds"},
		"usage: want a number from 1":                                                            {"inspect", "event", "nix"},
		"usage: want a new number of 1 to 128 visible ASCII characters":                          {"release", "refund", "1", "é"},
		"usage: want MACHINE/KEY, such as order/7f1c9a52-…":                                      {"release", "outbox", "1"},
		"usage: flag provided but not defined: -what":                                            {"release", "case", "1", "-what"},
		"usage: -actor and -reason are missing: who does this, and why":                          {"complete", "case", "1"},
	} {
		_, err := runbook.Parse(nil, args...)
		require.ErrorIs(t, err, runbook.ErrUsage)
		require.EqualError(t, err, want)
	}
}

// A delivery that contradicts its event waits for a person, until one is done with it.
func TestOddDeliveriesWait(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.event()
	d.says("== odd deliveries\nnone\n", "inspect", "stuck")
	require.ErrorIs(t, d.does("complete", "delivery", "1"), inbox.ErrNotOdd)
	require.ErrorIs(t, d.does("complete", "delivery", "99"), fsm.ErrNotFound)
	secret := webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
	verifier, err := webhook.NewStandard([]webhook.Secret{secret})
	require.NoError(t, err)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{secret})
	require.NoError(t, err)
	in, err := inbox.New(inbox.Config{Pool: d.pool, Providers: []inbox.Provider{inbox.Standard("acme", verifier,
		func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { return fsm.Applied, nil })}})
	require.NoError(t, err)
	body := []byte("no JSON")
	header, err := signer.Sign("msg_7", time.Now(), body)
	require.NoError(t, err)
	for range 2 {
		_, err = in.Receive(t.Context(), "acme", header, body)
		require.ErrorIs(t, err, inbox.ErrUnreadable)
	}
	id := d.value("SELECT min(id) FROM fsm_deliveries WHERE verdicts = '{unreadable}'")

	for _, list := range []string{"stuck", "inbox"} {
		text, err := d.run("inspect", list)
		require.NoError(t, err)
		require.Regexp(t, `(?m)^`+id+` +acme +msg_7 +\{unreadable\}`, sections(text)["odd deliveries"])
	}
	text, err := d.run("inspect", "delivery", id)
	require.NoError(t, err)
	require.Regexp(t, `body +no JSON\n`, sections(text)["delivery"])
	require.NoError(t, d.does("complete", "delivery", id))
	require.Equal(t, "2", d.value("SELECT count(*) FROM fsm_audit WHERE machine = 'fsm_deliveries' AND action = 'close' AND actor = 'ann'"), "and that of the same body")
	require.ErrorIs(t, d.does("complete", "delivery", id), inbox.ErrNotOdd, "it is closed")
	d.says("== odd deliveries\nnone\n", "inspect", "stuck") // nor the other of that body
}

// An attempt whose outcome is not known for an hour is shown, with when it is looked up.
func TestAttemptsInDoubtAreShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.attempt()
	require.NoError(t, d.does("release", "attempt", id))
	doubt := func() string {
		text, err := d.run("inspect", "stuck")
		require.NoError(t, err)
		return sections(text)["attempts, in doubt for an hour"]
	}
	require.Equal(t, "none\n", doubt())
	d.sql("UPDATE fsm_attempts SET first_sent_at = now() - interval '61 minutes', created_at = now() - interval '62 minutes'")
	require.Contains(t, doubt(), id)
	require.Contains(t, doubt(), "(nothing yet: each is looked up again when it is due")
}
