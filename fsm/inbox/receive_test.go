package inbox_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

func TestReceive(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("evt_1", "paid", "p1", total)
	r, err := b.Receive(t.Context(), "stripe", b.signed(n.body()), n.body())
	require.NoError(t, err)
	require.Equal(t, inbox.Answer{Status: 200}, r.Answer)
	require.Equal(t, []inbox.Told{{Event: r.Told[0].Event, Provider: "stripe", ID: "evt_1", Verdict: inbox.VerdictDone, State: inbox.Done, Outcome: fsm.Applied}}, r.Told)
	require.Equal(t, r.Told, b.observed)
	b.requireOrder(order.StatePaid, "order_paid", 1)

	items := b.list(inbox.Done)
	require.Len(t, items, 1)
	item := items[0]
	require.Equal(t, []string{"stripe", "evt_1", "paid", "p1", "paid", "4200"}, []string{item.Provider, item.EventID, item.Type, item.Object, item.Status, item.Fingerprint})
	require.Equal(t, fsm.Applied, item.Outcome)
	require.Nil(t, item.Due)
	require.NotNil(t, item.EndedAt)
	arrivals, err := inbox.Deliveries(t.Context(), b.pool, item.ID, 0, 0)
	require.NoError(t, err)
	require.Len(t, arrivals, 1)
	require.Equal(t, []inbox.Verdict{inbox.VerdictDone}, arrivals[0].Verdicts)
	require.Contains(t, arrivals[0].Headers, "Stripe-Signature")
	body, err := inbox.Body(t.Context(), b.pool, r.Delivery)
	require.NoError(t, err)
	require.Equal(t, n.body(), body)
	_, err = inbox.Body(t.Context(), b.pool, r.Delivery+1)
	require.ErrorIs(t, err, fsm.ErrNotFound)
}

// A repeated equal notice is no error, which would make a provider cancel; and it
// never sets a processed event back.
func TestToldTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("evt_1", "paid", "p1", total)
	require.Equal(t, inbox.VerdictDone, b.deliver(n).Verdict)
	before := b.list(inbox.Done)
	for range 3 {
		again := b.deliver(n)
		require.Equal(t, inbox.VerdictDuplicate, again.Verdict)
		require.Equal(t, inbox.Done, again.State)
	}
	b.later()
	require.Zero(t, b.retry())
	require.Equal(t, before, b.list(inbox.Done))
	b.requireOrder(order.StatePaid, "order_paid", 1)
	arrivals, err := inbox.Deliveries(t.Context(), b.pool, before[0].ID, 0, 0)
	require.NoError(t, err)
	require.Len(t, arrivals, 4)
	for i, a := range arrivals {
		require.Equal(t, i == 0, a.HasBody, "the body is kept once")
	}
}

// An upsert that sets a processed event back is refused by the table itself.
func TestNobodySetsBack(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	b.deliver(told("evt_1", "paid", "p1", total))
	for _, state := range []string{"received", "parked"} {
		_, err := b.pool.Exec(t.Context(), `UPDATE fsm_inbox SET state = $1`, state)
		require.ErrorContains(t, err, "fsm_inbox_due_check")
	}
}

// Two event objects that tell one change are one event, and the same number from
// another provider is not.
func TestOneChangeUnderTwoNames(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	first := b.deliver(told("evt_1", "paid", "p1", total))
	second := b.deliver(told("evt_2", "paid", "p1", total))
	require.Equal(t, inbox.VerdictDuplicate, second.Verdict)
	require.Equal(t, first.Event, second.Event)
	require.Len(t, b.list(inbox.Done), 1)
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// What is told under a known name must say the same; what was said first stands.
func TestConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	b.deliver(told("evt_1", "paid", "p1", total))
	require.Equal(t, inbox.VerdictConflict, b.deliver(told("evt_1", "paid", "p1", 1)).Verdict)
	b.requireOrder(order.StatePaid, "order_paid", 1)
	odd, err := inbox.Odd(t.Context(), b.pool, 0, 0)
	require.NoError(t, err)
	require.Len(t, odd, 1)
	require.True(t, odd[0].HasBody)

	// Also while the first is at work: that it is, is not what this one is told.
	b.crash(told("evt_0", "paid", "p0", total))
	require.Equal(t, inbox.VerdictRunning, b.deliver(told("evt_0", "paid", "p0", total)).Verdict)
	require.Equal(t, inbox.VerdictConflict, b.deliver(told("evt_0", "paid", "p0", 1)).Verdict)

	// Another amount under another name is another event: the machine judges it.
	other := b.deliver(told("evt_2", "paid", "p1", 1))
	require.Equal(t, inbox.VerdictDead, other.Verdict)
	require.Equal(t, fsm.Mismatched, other.Outcome)
	require.Equal(t, fsm.Mismatched, b.list(inbox.Dead)[0].Outcome)
}

// A failure that is told after the success undoes nothing, and is accepted.
func TestLateFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	b.deliver(told("evt_1", "paid", "p1", total))
	late := b.deliver(told("evt_2", "failed", "p1", total))
	require.Equal(t, inbox.VerdictStale, late.Verdict)
	require.Equal(t, fsm.Ignored, late.Outcome)
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// An event that the machine refuses is stale as well, and accepted.
func TestRejectedIsStale(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	early := b.deliver(told("evt_1", "ship", "", 0))
	require.Equal(t, inbox.VerdictStale, early.Verdict)
	require.Equal(t, fsm.Rejected, early.Outcome)
	require.Equal(t, fsm.Rejected, b.list(inbox.Done)[0].Outcome)
}

func TestUnknownTypeIsIgnored(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	require.Equal(t, inbox.VerdictIgnored, b.deliver(told("evt_1", "balance.available", "p", 1)).Verdict)
	require.Equal(t, inbox.VerdictDuplicate, b.deliver(told("evt_1", "balance.available", "p", 1)).Verdict)
	require.Len(t, b.list(inbox.Ignored), 1)
}

// A second channel that was paid as well is recorded and refunded once, and the
// provider is told of success: a failure would have it come again for days.
func TestTwoChannelsPay(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("n-1", "paid", "p1", total) // the same number, by another provider
	require.Equal(t, fsm.Applied, b.deliver(n).Outcome)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	header, err := signer.Sign("msg_1", b.now, n.body())
	require.NoError(t, err)
	for i, want := range []inbox.Verdict{inbox.VerdictDone, inbox.VerdictDuplicate} {
		r, err := b.Receive(t.Context(), "bank", header, n.body())
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, r.Answer.Status)
		require.Equal(t, want, r.Told[0].Verdict)
		if i == 0 {
			require.Equal(t, fsm.Compensated, r.Told[0].Outcome)
		}
	}
	b.requireOrder(order.StatePaid, "refund_due", 1)
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// A browser's confirmation and the callback run at once: one of them moves the
// order, and one mail is due.
func TestBrowserBesideCallback(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rounds = 200
	for i := range rounds {
		key := order.Key(uuidOf(i))
		_, err := order.Create(t.Context(), b.pool, order.CreateParams{Key: key, CustomerID: "c", Sku: "s", Quantity: 1, TotalCents: total})
		require.NoError(t, err)
		n := told("evt_"+string(key), "paid", "p_"+string(key), total)
		n.Data.Order = string(key)
		var (
			both     sync.WaitGroup
			browser  fsm.Outcome
			callback inbox.Told
		)
		both.Go(func() {
			r, err := order.PaymentSucceeded(t.Context(), b.pool, key, order.PaymentSucceededParams{PaymentNo: "stripe:" + n.Data.Payment, PaidCents: total})
			require.NoError(t, err)
			browser = r.Outcome
		})
		both.Go(func() { callback = b.deliver(n) })
		both.Wait()
		require.ElementsMatch(t, []fsm.Outcome{fsm.Applied, fsm.Replayed}, []fsm.Outcome{browser, callback.Outcome})
		require.Equal(t, inbox.VerdictDone, callback.Verdict)
	}
	require.Equal(t, rounds, b.count(`SELECT count(*) FROM fsm_outbox WHERE topic = 'order_paid'`))
	require.Equal(t, rounds, b.count(`SELECT count(DISTINCT key) FROM fsm_outbox WHERE topic = 'order_paid'`))
}

// Two callers who read the state first, and then write what they have decided,
// both send the mail.
func TestBrowserBesideCallbackNaively(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE naive_orders (status text); INSERT INTO naive_orders VALUES ('PAYING'); CREATE TABLE naive_mails (n int)`)
	var callers [2]pgx.Tx
	for i := range callers {
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		var status string
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT status FROM naive_orders`).Scan(&status))
		require.Equal(t, "PAYING", status, "each of them may go on")
		callers[i] = tx
	}
	for _, tx := range callers {
		_, err := tx.Exec(t.Context(), `UPDATE naive_orders SET status = 'PAID'; INSERT INTO naive_mails VALUES (1)`)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
	}
	require.Equal(t, 2, b.count(`SELECT count(*) FROM naive_mails`))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func uuidOf(i int) string {
	const hex = "0123456789abcdef"
	return "0c000000-0000-4000-8000-0000000000" + string([]byte{hex[i/16], hex[i%16]})
}

// One duplicate among the items of a delivery, or one that cannot be done, costs the
// fresh ones nothing. (An insert of them all at once failed at the duplicate.)
func TestDuplicateAmongFreshItems(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) {
		c.Providers = []inbox.Provider{adyenScheme(t).provider(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
			if e.Object == "early" {
				return "", fsm.ErrNotFound
			}
			_, err := tx.Exec(ctx, `INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, $2, 'c', 1)`, orderA, e.ID)
			return fsm.Applied, err
		})}
	})
	s, err := webhook.NewAdyenSigner(webhook.NewSecret("DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00"))
	require.NoError(t, err)
	item := func(name string, cents int64) webhook.AdyenItem {
		return webhook.AdyenItem{PSPReference: name, EventCode: "CAPTURE", Success: true, Value: cents, Currency: "EUR"}
	}
	deliver := func(items ...webhook.AdyenItem) (verdicts []inbox.Verdict) {
		body, err := s.Sign(items...)
		require.NoError(t, err)
		r, err := b.Receive(t.Context(), "adyen", nil, body)
		require.NoError(t, err)
		require.Equal(t, "[accepted]", r.Answer.Body)
		for _, told := range r.Told {
			verdicts = append(verdicts, told.Verdict)
		}
		return verdicts
	}
	require.Equal(t, []inbox.Verdict{inbox.VerdictDone}, deliver(item("known", 1)))
	require.Equal(t, []inbox.Verdict{
		inbox.VerdictDone, inbox.VerdictDuplicate, inbox.VerdictRunning, inbox.VerdictConflict, inbox.VerdictParked, inbox.VerdictDone,
	}, deliver(item("z", 1), item("known", 1), item("z", 1), item("known", 2), item("early", 1), item("a", 1)))
	require.Equal(t, []inbox.Verdict{inbox.VerdictDuplicate, inbox.VerdictDone}, deliver(item("z", 1), item("b", 1)))
	require.Equal(t, 4, b.count(`SELECT count(*) FROM shop_points`))

	b.exec(`CREATE TABLE naive (id text PRIMARY KEY); INSERT INTO naive VALUES ('known')`)
	_, err = b.pool.Exec(t.Context(), `INSERT INTO naive VALUES ('z'), ('known'), ('a')`)
	require.Error(t, err)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM naive`), "the naive one lost the fresh ones")
}

// What there is no time for is accepted, since it is stored, and done by Retry.
func TestNoTimeLeft(t *testing.T) {
	t.Parallel()
	slow := true
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		outcome, err := settle(ctx, tx, e)
		if slow {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return outcome, err
	}), func(c *inbox.Config) { c.Providers[0].Limit, c.Providers[0].Margin = 4*time.Second, 3*time.Second }).withOrder()
	require.Equal(t, inbox.VerdictDeferred, b.deliver(told("evt_1", "paid", "p1", total)).Verdict)
	b.requireOrder(order.StatePaying, "order_paid", 0)
	slow = false
	require.Equal(t, 1, b.retry())
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.Equal(t, 2, b.list(inbox.Done)[0].Attempts)
}

// What a retry has no time for waits longer; what a shutdown interrupts does not.
func TestNoTimeInRetry(t *testing.T) {
	t.Parallel()
	var stop context.CancelFunc
	b := newBench(t, handling(func(ctx context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if e.Attempt == 1 {
			return "", inbox.ErrTooEarly
		}
		if stop != nil {
			stop()
		}
		<-ctx.Done()
		return "", ctx.Err()
	}), func(c *inbox.Config) {
		c.Lease = 4 * time.Second
		c.Providers[0].Limit, c.Providers[1].Limit = 3*time.Second, 3*time.Second
	})
	b.deliver(told("evt_1", "paid", "p1", total))
	b.later()
	require.Equal(t, 1, b.retry())
	parked := b.list(inbox.Parked)
	require.Len(t, parked, 1)
	require.Equal(t, "its time was up", parked[0].Reason)

	b.later()
	var ctx context.Context
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	_, err := (&inbox.Retry{Inbox: b.Inbox}).Once(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_inbox WHERE state = 'received' AND owner = '' AND due_at <= now()`))
}

// Fifty equal deliveries at once have one effect, and all are accepted.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	verdicts := make([]inbox.Verdict, 50)
	var all sync.WaitGroup
	for i := range verdicts {
		all.Go(func() { verdicts[i] = b.deliver(told("evt_1", "paid", "p1", total)).Verdict })
	}
	all.Wait()
	done := 0
	for _, v := range verdicts {
		require.Contains(t, []inbox.Verdict{inbox.VerdictDone, inbox.VerdictDuplicate, inbox.VerdictRunning}, v)
		if v == inbox.VerdictDone {
			done++
		}
	}
	require.Equal(t, 1, done)
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.Equal(t, 50, b.count(`SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NOT NULL`))
}
