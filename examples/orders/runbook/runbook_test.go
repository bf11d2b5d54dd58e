package runbook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const orderA = "0a000000-0000-4000-8000-00000000000a"

// desk is a database with things that are stuck, and a person in front of it.
type desk struct {
	t    *testing.T
	pool *pgxpool.Pool
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t, testdb.New(t, testdb.WithMigrations(migrations.FS))}
}

// run returns what the runbook says.
func (d *desk) run(args ...string) (string, error) {
	var out bytes.Buffer
	err := runbook.Run(d.t.Context(), d.pool, &out, args...)
	return out.String(), err
}

func (d *desk) says(part string, args ...string) {
	d.t.Helper()
	text, err := d.run(args...)
	require.NoError(d.t, err)
	require.Contains(d.t, text, part)
}

// does runs a release or complete of ann's.
func (d *desk) does(verb string, args ...string) error {
	_, err := d.run(append([]string{verb, "-actor", "ann", "-reason", "the provider said so"}, args...)...)
	return err
}

// audited requires the one audit row, of ann's.
func (d *desk) audited(machine, key, action, from, to string) {
	d.t.Helper()
	var got string
	require.NoError(d.t, d.pool.QueryRow(d.t.Context(), `SELECT string_agg(concat_ws(' ', machine, key, action, from_status, to_status, actor, reason), ', ') FROM fsm_audit`).Scan(&got))
	require.Equal(d.t, strings.Join([]string{machine, key, action, from, to, "ann the provider said so"}, " "), got)
}

func (d *desk) value(sql string, args ...any) string {
	d.t.Helper()
	var v string
	require.NoError(d.t, d.pool.QueryRow(d.t.Context(), "SELECT ("+sql+")::text", args...).Scan(&v))
	return v
}

// order makes one that waits for its payment.
func (d *desk) order() {
	d.t.Helper()
	ctx := d.t.Context()
	_, err := order.Create(ctx, d.pool, order.CreateParams{Key: orderA, CustomerID: "ann", Sku: "mug", Quantity: 2, TotalCents: 100})
	require.NoError(d.t, err)
	_, err = order.Pay(ctx, d.pool, orderA, fsm.Actor("customer"))
	require.NoError(d.t, err)
	_, err = payment.Create(ctx, d.pool, payment.CreateParams{Key: "p-1", OrderID: orderA, AmountCents: 100})
	require.NoError(d.t, err)
}

// parked has the order's first message refused until a person decides, and
// returns its row.
func (d *desk) parked() string {
	d.t.Helper()
	r := &relay.Relay{DB: d.pool, Tries: 1, Publisher: relay.PublisherFunc(func(context.Context, relay.Message) error {
		return errors.New("topic\x1b[31m is gone")
	})}
	_, err := r.Once(d.t.Context())
	require.NoError(d.t, err)
	return d.value("SELECT min(id) FROM fsm_outbox WHERE machine = 'order'")
}

// letter makes a dead letter and returns its number.
func (d *desk) letter() string {
	d.t.Helper()
	c := &consume.Consumer{DB: d.pool, Name: "mails", Lease: time.Minute, Tries: 1}
	outcome, _ := c.Consume(d.t.Context(), "mail/1", consume.Message{Topic: "order_paid", ID: "m-1", Payload: []byte(`{"to":"ann"}`)},
		func(context.Context, pgx.Tx, consume.Message) error { return errors.New("no such address") })
	require.Equal(d.t, consume.Dead, outcome)
	return d.value("SELECT max(id) FROM fsm_dead_letters")
}

// attempt makes a call to a provider that waits for a person, and returns its id.
func (d *desk) attempt() string {
	d.t.Helper()
	kind := &attempt.Kind{
		Name: "payout", RepeatIsQuery: true, Policy: attempt.Policy{MaxRounds: 1},
		Call: func(context.Context, attempt.Attempt) (attempt.Result, error) {
			return attempt.Result{}, errors.New("time-out")
		},
		Complete: func(context.Context, pgx.Tx, attempt.Attempt) error { return nil },
	}
	a, _, err := attempt.Start(d.t.Context(), d.pool, kind, "p-1", map[string]int{"cents": 100})
	require.NoError(d.t, err)
	_, err = attempt.Drive(d.t.Context(), d.pool, kind, a.ID)
	require.ErrorIs(d.t, err, attempt.ErrStuck)
	return a.ID
}

// event makes a dead event of the inbox and returns its number.
func (d *desk) event() string {
	d.t.Helper()
	secret := webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
	verifier, err := webhook.NewStandard([]webhook.Secret{secret})
	require.NoError(d.t, err)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{secret})
	require.NoError(d.t, err)
	provider := inbox.Standard("acme", verifier, func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) {
		return "", fsm.ErrUnknownWord
	})
	provider.Change = func(inbox.Event) (object, status, fingerprint string) { return "p-1", "SETTLED", "100" }
	in, err := inbox.New(inbox.Config{Pool: d.pool, Providers: []inbox.Provider{provider}})
	require.NoError(d.t, err)
	body := []byte(`{"type":"payment.settled"}`)
	header, err := signer.Sign("msg_1", time.Now(), body)
	require.NoError(d.t, err)
	receipt, err := in.Receive(d.t.Context(), "acme", header, body)
	require.NoError(d.t, err)
	return fmt.Sprint(receipt.Told[0].Event)
}

// command keeps a reply that names the order.
func (d *desk) command() {
	d.t.Helper()
	c := &command.Command{Name: "order.create"}
	r := command.Request{Scope: "ann", Key: "k-1", Method: "POST", Path: "/orders"}
	_, err := c.Do(d.t.Context(), d.pool, r, func(context.Context, pgx.Tx) (command.Reply, error) {
		return command.Reply{Status: http.StatusCreated, Body: []byte(`{"order_id":"` + orderA + `"}`)}, nil
	})
	require.NoError(d.t, err)
}

// sections splits an inspection by its titles.
func sections(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		title, rest, _ := strings.Cut(part, "\n")
		out[title] = rest
	}
	return out
}

func TestInspectOrderShowsAllThatHangsOnIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	d.parked()
	d.event()
	d.attempt()
	d.command()
	_, err := order.PaymentSucceeded(t.Context(), d.pool, orderA, order.PaymentSucceededParams{PaymentNo: "p-1", PaidCents: 100})
	require.NoError(t, err)
	_, err = d.pool.Exec(t.Context(), `
		INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail) VALUES ('stripe', 'evt_9', $1, 'payment_succeeded', 'Mismatched', 'told: 99')`, orderA)
	require.NoError(t, err)
	_, err = d.pool.Exec(t.Context(), `INSERT INTO shop_ledger (kind, number, order_id, cents, outcome) VALUES ('payment', 'p-1', $1, 100, 'Applied')`, orderA)
	require.NoError(t, err)
	require.NoError(t, d.does("complete", "order", orderA, "COMPLETED"))

	text, err := d.run("inspect", "order", strings.ToUpper(orderA))
	require.NoError(t, err)
	got := sections(text)
	for title, parts := range map[string][]string{
		"order":             {"status          COMPLETED\n", "customer_id     ann\n"},
		"history":           {"create", "pay ", "customer", "payment_succeeded", "COMPLETED", "the provider said so"},
		"facts":             {"payment_succeeded", "p-1", "Applied"},
		"payments":          {"p-1", "CREATED"},
		"refunds":           {"none"},
		"ledger":            {"payment", "p-1", "100"},
		"cases":             {"evt_9", "Mismatched", "told: 99", "closed"},
		"outbox, waiting":   {"order_created", `topic\x1b[31m is gone`, "order_paid"},
		"outbox, set aside": {"none"},
		"inbox events":      {"acme", "payment.settled", "dead"},
		"attempts":          {"payout", "UNKNOWN", "time-out"},
		"commands":          {"ann", "order.create", "k-1", "201"},
		"audit":             {"ann", "the provider said so", "PAID", "COMPLETED"},
	} {
		for _, part := range parts {
			require.Contains(t, got[title], part, title)
		}
	}
	require.NotContains(t, text, "\x1b")
	again, err := d.run("inspect", "order", orderA)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

func TestInspectStuckListsWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.says("== letters\nnone\n", "inspect", "stuck")
	d.order()
	d.parked()
	event, letter, id := d.event(), d.letter(), d.attempt()
	text, err := d.run("inspect", "stuck")
	require.NoError(t, err)
	got := sections(text)
	require.Contains(t, got["outbox, parked"], orderA)
	require.Contains(t, got["inbox events, dead"], event+" ")
	require.Contains(t, got["letters"], letter+" ")
	require.Contains(t, got["attempts, stuck"], id)

	d.says("state        dead\n", "inspect", "event", event)
	d.says("payload\n{\n  \"to\": \"ann\"\n}\n", "inspect", "letter", letter)
	d.says("last_error     time-out\n", "inspect", "attempt", id)
	d.says("order_created", "inspect", "outbox", "order/"+orderA)
	_, err = d.run("inspect", "outbox", "order/none")
	require.ErrorContains(t, err, "no message of this row waits")
	d.command()
	d.says("body\n{\n  \"order_id\": \""+orderA+"\"\n}\n", "inspect", "command", "k-1")
}

// An order whose refunds its machine does not ask for any more waits for a person; one
// that is still asked about does not.
func TestInspectStuckListsOrdersThatWaitForTheirRefunds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	_, err := order.PaymentSucceeded(t.Context(), d.pool, orderA, order.PaymentSucceededParams{PaymentNo: "p-1", PaidCents: 100})
	require.NoError(t, err)
	_, err = order.Refund(t.Context(), d.pool, orderA, order.RefundParams{RefundNo: "r-1", AmountCents: 100})
	require.NoError(t, err)
	d.sql("INSERT INTO shop_ledger (kind, number, order_id, cents, outcome, payment_no) VALUES ('refund', 'r-1', '" + orderA + "', -99, 'Compensated', 'p-other')")
	const title = "orders, not asked about their refunds any more"
	stuck := func() string {
		text, err := d.run("inspect", "stuck")
		require.NoError(t, err)
		return sections(text)[title]
	}
	require.Equal(t, "none\n", stuck())
	d.sql("UPDATE orders SET deadline_at = NULL")
	require.Contains(t, stuck(), orderA)
	require.Contains(t, stuck(), "-99")
	require.NoError(t, d.does("complete", "order", orderA, "REFUNDED"))
	require.Equal(t, "none\n", stuck())
}

func TestReleaseOutboxHasItDelivered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	d.parked()
	var topics []string
	r := &relay.Relay{DB: d.pool, Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error {
		topics = append(topics, m.Machine+" "+m.Topic)
		return nil
	})}
	_, err := r.Once(t.Context())
	require.NoError(t, err)
	require.NotContains(t, topics, "order order_created")
	require.NoError(t, d.does("release", "outbox", "order/"+orderA))
	_, err = r.Once(t.Context())
	require.NoError(t, err)
	require.Contains(t, topics, "order order_created")
	d.audited("fsm_outbox", "order/"+orderA, "retry", "held", "waiting")
	require.ErrorIs(t, d.does("release", "outbox", "order/"+orderA), relay.ErrNotHeld)
	d.audited("fsm_outbox", "order/"+orderA, "retry", "held", "waiting") // and none of what was refused
}

func TestCompleteOutboxSetsAside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	row := d.parked()
	require.ErrorIs(t, d.does("complete", "outbox", "order/"+orderA, row+"0"), relay.ErrChanged)
	require.NoError(t, d.does("complete", "outbox", "order/"+orderA, row))
	require.Equal(t, "order_created ann", d.value("SELECT topic || ' ' || actor FROM fsm_outbox_aside"))
	d.audited("fsm_outbox", "order/"+orderA, "set aside", "held", "aside")
}

func TestLettersAreRequeuedAndDiscarded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ verb, action, to, state string }{
		{"release", "requeue", "requeued", ""},
		{"complete", "discard", "discarded", "done"},
	} {
		t.Run(c.verb, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			letter := d.letter()
			require.NoError(t, d.does(c.verb, "letter", letter))
			d.audited("fsm_dead_letters", letter, c.action, "dead", c.to)
			state, _, err := (&consume.Consumer{DB: d.pool, Name: "mails", Lease: time.Minute, Tries: 1}).Status(t.Context(), "mail/1")
			require.NoError(t, err)
			if c.state == "" {
				require.NotEqual(t, "dead", state)
			} else {
				require.Equal(t, c.state, state)
			}
			require.ErrorIs(t, d.does(c.verb, "letter", letter), consume.ErrNoLetter)
			require.ErrorIs(t, d.does(c.verb, "letter", letter+"0"), fsm.ErrNotFound)
		})
	}
}

func TestAttemptsAreResumedAndSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb         string
		more         []string
		action, want string
	}{
		{"release", nil, "resume", "UNKNOWN  "},
		{"complete", []string{"succeeded", "ref-7"}, "settle", "SUCCEEDED ref-7 "},
		{"complete", []string{"refused", "no_funds"}, "settle", "REFUSED  no_funds"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			id := d.attempt()
			require.NoError(t, d.does(c.verb, append([]string{"attempt", id}, c.more...)...))
			require.Equal(t, c.want, d.value("SELECT state || ' ' || ref || ' ' || code FROM fsm_attempts WHERE due IS NOT NULL"))
			d.audited("attempt payout", id, c.action, "UNKNOWN", strings.Fields(c.want)[0])
			require.ErrorIs(t, d.does(c.verb, append([]string{"attempt", id}, c.more...)...), attempt.ErrNotStuck)
		})
	}
}

func TestCompleteEventClosesIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	event := d.event()
	require.NoError(t, d.does("complete", "event", event))
	require.Equal(t, "closed", d.value("SELECT state FROM fsm_inbox"))
	d.audited("fsm_inbox", event, "end", "dead", "closed")
	require.ErrorIs(t, d.does("complete", "event", event), inbox.ErrState)
	require.ErrorIs(t, d.does("complete", "event", event+"0"), fsm.ErrNotFound)
}

func TestCompleteOrderForcesItsState(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	require.NoError(t, d.does("complete", "order", orderA, "CANCELLED"))
	require.Equal(t, "CANCELLED 3", d.value("SELECT status || ' ' || version FROM orders"))
	require.Equal(t, "1", d.value("SELECT count(*) FROM fsm_audit WHERE machine = 'order' AND actor = 'ann' AND to_status = 'CANCELLED'"))
}

// What cannot be done says so, and does nothing.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	who := []string{"-actor", "ann", "-reason", "so"}
	with := func(verb string, args ...string) []string { return append(append([]string{verb}, who...), args...) }
	for _, args := range [][]string{
		{}, {"look"}, {"inspect"}, {"inspect", "order"}, {"inspect", "customer", "ann"}, {"inspect", "order", "x"}, {"inspect", "letter", "x"},
		{"inspect", "order", "\x00"}, {"inspect", "order", "\xff"},
		{"release", "outbox", "order/x"}, {"release", "-actor", "ann", "outbox", "order/x"}, {"release", "-actor", " ", "-reason", "so", "outbox", "order/x"},
		{"release", "-actor", "a\x00b", "-reason", "so", "outbox", "order/x"}, {"release", "-what"},
		{"release", "-actor", "ann", "-reason", strings.Repeat("x", 10_000), "outbox", "order/x"},
		with("release"), with("release", "outbox", "order"), with("release", "event", "x"), with("release", "event", "1", "2"),
		with("complete", "case", "x"), with("complete", "case", "0"), with("release", "case", "1"), {"inspect", "case", "x"}, {"inspect", "inbox", "1"},
		with("complete", "outbox", "order/x"),
		with("complete", "outbox", "order/x", "one"), with("complete", "attempt", "x", "perhaps", "y"), with("complete", "order", orderA, "LOST"),
		with("release", "letter", "0"), with("complete", "event", "x"),
	} {
		_, err := d.run(args...)
		require.ErrorIs(t, err, runbook.ErrUsage, "%q", args)
	}
	for _, args := range [][]string{
		{"inspect", "order", orderA}, {"inspect", "command", "k"}, {"inspect", "event", "1"}, {"inspect", "letter", "1"}, {"inspect", "attempt", orderA},
		{"inspect", "case", "1"}, with("complete", "case", "1"),
		with("complete", "order", orderA, "PAID"), with("release", "attempt", orderA), with("release", "letter", "1"), with("complete", "event", "1"),
	} {
		_, err := d.run(args...)
		require.ErrorIs(t, err, fsm.ErrNotFound, "%q", args)
	}
	require.Equal(t, "0", d.value("SELECT count(*) FROM fsm_audit"))
}
