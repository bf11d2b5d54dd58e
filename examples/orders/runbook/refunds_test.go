package runbook_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/refund"
)

// refundCall is the kind of the shop's attempts, with a provider that says nothing.
var refundCall = &attempt.Kind{
	Name: "refund", RepeatIsQuery: true, Policy: attempt.Policy{MaxRounds: 1},
	Call: func(context.Context, attempt.Attempt) (attempt.Result, error) {
		return attempt.Result{}, errors.New("time-out")
	},
	Complete: func(context.Context, pgx.Tx, attempt.Attempt) error { return nil },
}

// refund makes one that was sent, and returns its attempt, which waits for a person.
func (d *desk) refund() string {
	d.t.Helper()
	ctx := d.t.Context()
	_, err := refund.Create(ctx, d.pool, refund.CreateParams{Key: "r-1", OrderID: orderA, PaymentNo: "p-1", AmountCents: 40})
	require.NoError(d.t, err)
	_, err = refund.Send(ctx, d.pool, "r-1")
	require.NoError(d.t, err)
	a, _, err := attempt.Start(ctx, d.pool, refundCall, "r-1", 1)
	require.NoError(d.t, err)
	_, err = attempt.Drive(ctx, d.pool, refundCall, a.ID)
	require.ErrorIs(d.t, err, attempt.ErrStuck)
	return a.ID
}

func (d *desk) abnormal() {
	d.t.Helper()
	_, err := refund.Stick(d.t.Context(), d.pool, "r-1")
	require.NoError(d.t, err)
}

const (
	resumed = "attempt refund resume UNKNOWN UNKNOWN ann the provider said so"
	retried = "refund retry ABNORMAL SENT ann the provider said so"
)

func (d *desk) audits() string {
	d.t.Helper()
	return d.value("SELECT coalesce(string_agg(concat_ws(' ', machine, action, from_status, to_status, actor, reason), ', ' ORDER BY id), '') FROM fsm_audit")
}

// Refund and attempt go on together, by whichever name the person calls them.
func TestRefundGoesOnWithItsAttempt(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"refund", "attempt"} {
		for _, noticed := range []bool{true, false} { // whether the refund is ABNORMAL yet
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				id := d.refund()
				want := resumed
				if noticed {
					d.abnormal()
					d.says("r-1", "inspect", "stuck")
					want += ", " + retried
				}
				key := map[string]string{"refund": "r-1", "attempt": id}[kind]
				require.NoError(t, d.does("release", kind, key))
				require.Equal(t, want, d.audits())
				require.Equal(t, "SENT", d.value("SELECT status FROM refunds"))
				require.Equal(t, "1", d.value("SELECT count(*) FROM fsm_attempts WHERE due <= clock_timestamp() AND stuck_at IS NULL AND rounds = 0"))

				text, err := d.run("inspect", "refund", "r-1")
				require.NoError(t, err)
				got := sections(text)
				require.Contains(t, got["refund"], "status         SENT\n")
				require.Contains(t, got["history"], "send")
				require.Contains(t, got["attempt"], id)
				require.Contains(t, got["audit"], "resume")
				require.Equal(t, noticed, strings.Contains(got["audit"], "ABNORMAL"))
			})
		}
	}
}

// A refund that never had an attempt goes on as well; the service starts one.
func TestRefundWithoutAttemptGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := refund.Create(t.Context(), d.pool, refund.CreateParams{Key: "r-1", OrderID: orderA, PaymentNo: "p-1", AmountCents: 40})
	require.NoError(t, err)
	require.ErrorIs(t, d.does("release", "refund", "r-1"), runbook.ErrNotWaiting)
	_, err = refund.Send(t.Context(), d.pool, "r-1")
	require.NoError(t, err)
	d.abnormal()
	require.NoError(t, d.does("release", "refund", "r-1"))
	require.Equal(t, retried, d.audits())
	text, err := d.run("release", "refund", "r-1", "-actor", "ann", "-reason", "so")
	require.ErrorIs(t, err, runbook.ErrNotWaiting, "it goes on already")
	require.ErrorContains(t, err, "; it is SENT")
	require.Empty(t, text)
	require.Equal(t, retried, d.audits())
	require.Equal(t, "2", d.value("SELECT count(*) FROM fsm_outbox WHERE topic = 'refund_send'"))
}

func TestRefundThatIsOverDoesNotGoOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.refund()
	require.NoError(t, d.does("complete", "attempt", id, "refused", "no_funds"))
	_, err := attempt.Drive(t.Context(), d.pool, refundCall, id)
	require.NoError(t, err)
	require.ErrorIs(t, d.does("release", "refund", "r-1"), runbook.ErrOver)
	require.ErrorIs(t, d.does("release", "attempt", id), attempt.ErrNotStuck)
	require.ErrorIs(t, d.does("release", "refund", "r-2"), fsm.ErrNotFound)
	_, err = d.run("inspect", "refund", "r-2")
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.Equal(t, "SENT", d.value("SELECT status FROM refunds"))
	require.Equal(t, "attempt refund settle UNKNOWN REFUSED ann the provider said so", d.audits())
}

// A provider that never calls tells a person: order, ledger and refund take that as
// they take a callback, once, and history and audit have the person's name.
func TestRefundIsSettledByHand(t *testing.T) {
	t.Parallel()
	for _, from := range []refund.State{"REQUESTED", "SENT", "ABNORMAL"} {
		for what, want := range map[string]string{
			"succeeded": "SUCCEEDED 40 40 -40 person",
			"closed":    "CLOSED 40 0",
		} {
			t.Run(string(from)+" "+what, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.promised()
				if from != "REQUESTED" {
					_, err := refund.Send(t.Context(), d.pool, "r-1")
					require.NoError(t, err)
				}
				if from == "ABNORMAL" {
					d.abnormal()
				}
				require.NoError(t, d.does("complete", "refund", "r-1", what))
				stands := func() string {
					return d.value(`SELECT concat_ws(' ', r.status, o.refund_cents, o.refunded_cents, l.cents, l.provider)
						FROM orders AS o CROSS JOIN refunds AS r LEFT JOIN shop_ledger AS l ON l.kind = 'refund'`)
				}
				require.Equal(t, want, stands())
				to, _, _ := strings.Cut(want, " ")
				audited := "refund settle " + string(from) + " " + to + " ann the provider said so"
				require.Equal(t, audited, d.audits())
				require.Equal(t, "ann the provider said so", d.value("SELECT concat_ws(' ', actor, reason) FROM refund_history ORDER BY version DESC LIMIT 1"))
				if what == "succeeded" {
					require.Equal(t, "ann the provider said so", d.value("SELECT concat_ws(' ', actor, reason) FROM order_history ORDER BY version DESC LIMIT 1"))
				}
				for _, again := range []string{"succeeded", "closed"} {
					require.ErrorIs(t, d.does("complete", "refund", "r-1", again), shop.ErrSettled)
				}
				require.Equal(t, want, stands())
				require.Equal(t, audited, d.audits())
			})
		}
	}
}

func TestRefundIsNotSettledByHand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.promised()
	require.ErrorIs(t, d.does("complete", "refund", "r-9", "closed"), fsm.ErrNotFound)
	require.ErrorIs(t, d.does("complete", "refund", "r-1", "lost"), runbook.ErrUsage)
	// The order has heard of another amount under this number.
	_, err := order.RefundSucceeded(t.Context(), d.pool, orderA, order.RefundSucceededParams{RefundNo: "r-1", PaymentNo: "p-1", AmountCents: 41})
	require.NoError(t, err)
	var refused *fsm.RefusedError
	require.ErrorAs(t, d.does("complete", "refund", "r-1", "succeeded"), &refused)
	require.Equal(t, fsm.Mismatched, refused.Outcome)
	require.Equal(t, "REQUESTED 0", d.value("SELECT concat_ws(' ', status, (SELECT count(*) FROM shop_cases)) FROM refunds"))

	d = newDesk(t)
	id := d.refund()
	require.ErrorIs(t, d.does("complete", "refund", "r-1", "succeeded"), shop.ErrCalled)
	require.ErrorContains(t, d.does("complete", "refund", "r-1", "closed"), "complete attempt "+id)
	require.Empty(t, d.audits())
}

// A case says how its refund stands now, and what was tried in its place; another
// refund's number in its text, which a customer chose, says nothing.
func TestCaseShowsHowItsRefundStands(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refused()
	opened := func(detail string) string {
		id := d.opened(detail)
		_, err := d.pool.Exec(t.Context(), "UPDATE shop_cases SET detail = delivery_id WHERE id = $1::text::bigint", id)
		require.NoError(t, err)
		return id
	}
	id := opened(`refund_no="r-1": the provider did not give it back; it is CLOSED`)
	other := opened(`refund_no="r-1\" refund_no=\"r-1": as told`)
	d.makes(`p"2`, `p"2`, 7)
	returned := opened(`payment_no="p\"2" amount_cents=7 has to go back, and no provider of refunds is set`)
	none := opened("the number belongs to another order")
	shows := func(want map[string]string) {
		t.Helper()
		text, err := d.run("inspect", "stuck")
		require.NoError(t, err)
		list := sections(text)["cases"]
		for id, now := range want {
			require.Regexp(t, `(?m)^`+id+`  +`+now+`  +`+orderA, list)
			text, err := d.run("inspect", "case", id)
			require.NoError(t, err)
			require.Regexp(t, `(?m)^refund_now +`+now+`$`, sections(text)["case"])
		}
	}
	shows(map[string]string{id: "r-1 CLOSED", other: "-", returned: `p"2 SENT`, none: "-"})
	require.NoError(t, d.does("release", "refund", "r-1", "r-2"))
	shows(map[string]string{id: "r-1 CLOSED, again as r-2 REQUESTED", other: "-"})
	require.NoError(t, d.does("complete", "refund", "r-2", "closed"))
	require.NoError(t, d.does("release", "refund", "r-2", "r-3"))
	require.NoError(t, d.does("complete", "refund", "r-3", "succeeded"))
	shows(map[string]string{id: "r-1 CLOSED, again as r-2 CLOSED, again as r-3 SUCCEEDED"})
	d.says("again as r-3 SUCCEEDED", "inspect", "order", orderA)
}
