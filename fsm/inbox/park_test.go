package inbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/gen/order"
)

// A callback that overtakes the order's own commit is parked, not dropped, and
// takes effect when the order is there.
func TestBeforeTheOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := told("evt_1", "paid", "p1", total)
	require.Equal(t, inbox.VerdictParked, b.deliver(n).Verdict)
	require.Zero(t, b.retry(), "not before its time")
	b.later()
	require.Equal(t, 1, b.retry())
	parked := b.list(inbox.Parked)
	require.Len(t, parked, 1)
	require.Equal(t, 2, parked[0].Attempts)
	require.Contains(t, parked[0].Reason, "no such row")

	b.withOrder()
	b.later()
	require.Equal(t, 1, b.retry())
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.Equal(t, inbox.VerdictDuplicate, b.deliver(n).Verdict)
}

// The provider's repeat of what is parked is tried at once.
func TestRepeatOfParked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := told("evt_1", "paid", "p1", total)
	require.Equal(t, inbox.VerdictParked, b.deliver(n).Verdict)
	b.withOrder()
	again := b.deliver(n)
	require.Equal(t, inbox.VerdictDone, again.Verdict)
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// An order that never comes ends the tries: by number, or by age.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    setting
		before func(*bench)
	}{
		"by number": {func(c *inbox.Config) { c.MaxAttempts = 2 }, func(*bench) {}},
		"by age":    {func(*inbox.Config) {}, func(b *bench) { b.exec(`UPDATE fsm_inbox SET gives_up_at = now()`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.set)
			n := told("evt_1", "paid", "p1", total)
			require.Equal(t, inbox.VerdictParked, b.deliver(n).Verdict)
			c.before(b)
			b.later()
			require.Equal(t, 1, b.retry())
			dead := b.list(inbox.Dead)
			require.Len(t, dead, 1)
			require.Contains(t, dead[0].Reason, "no such row")
			require.Equal(t, inbox.VerdictDead, b.observed[1].Verdict)
			b.later()
			require.Zero(t, b.retry())
			require.Equal(t, inbox.VerdictDuplicate, b.deliver(n).Verdict, "accepted: the provider can do no more")
		})
	}
}

// What becomes of an event by what its handler says.
func TestHandlersErrors(t *testing.T) {
	t.Parallel()
	say := func(o fsm.Outcome, err error) inbox.Handler {
		return func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
			_, dbErr := tx.Exec(ctx, `INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, $2, 'c', 1)`, orderA, e.ID)
			return o, errors.Join(err, dbErr)
		}
	}
	panics := func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { panic("4111111111111111") }
	broken := func(ctx context.Context, tx pgx.Tx, _ inbox.Event) (fsm.Outcome, error) {
		_, _ = tx.Exec(ctx, `SELECT 1/0`)
		return fsm.Applied, nil
	}
	cases := map[string]struct {
		handle  inbox.Handler
		verdict inbox.Verdict
		state   inbox.State
		reason  string
		effects int
		outcome fsm.Outcome
	}{
		"no machine":    {say("", nil), inbox.VerdictDone, inbox.Done, "", 1, ""},
		"applied":       {say(fsm.Applied, nil), inbox.VerdictDone, inbox.Done, "", 1, fsm.Applied},
		"replayed":      {say(fsm.Replayed, nil), inbox.VerdictDone, inbox.Done, "", 1, fsm.Replayed},
		"compensated":   {say(fsm.Compensated, nil), inbox.VerdictDone, inbox.Done, "", 1, fsm.Compensated},
		"ignored":       {say(fsm.Ignored, nil), inbox.VerdictStale, inbox.Done, "", 1, fsm.Ignored},
		"rejected":      {say(fsm.Rejected, nil), inbox.VerdictStale, inbox.Done, "", 1, fsm.Rejected},
		"guard failed":  {say(fsm.GuardFailed, nil), inbox.VerdictDead, inbox.Dead, "no guard", 1, fsm.GuardFailed},
		"mismatched":    {say(fsm.Mismatched, nil), inbox.VerdictDead, inbox.Dead, "something else", 1, fsm.Mismatched},
		"stale version": {say(fsm.Stale, nil), inbox.VerdictParked, inbox.Parked, "expected version", 0, ""},
		"not found":     {say("", fsm.ErrNotFound), inbox.VerdictParked, inbox.Parked, "no such row", 0, ""},
		"too early":     {say("", inbox.ErrTooEarly), inbox.VerdictParked, inbox.Parked, "too early", 0, ""},
		"unknown type":  {say("", inbox.ErrUnknownType), inbox.VerdictIgnored, inbox.Ignored, "", 0, ""},
		"unknown word":  {say("", &fsm.UnknownWordError{Machine: "m", Map: "x", Word: "NEW"}), inbox.VerdictDead, inbox.Dead, `"NEW"`, 0, ""},
		"bad argument":  {say("", fsm.ErrArgument), inbox.VerdictDead, inbox.Dead, "bad argument", 0, ""},
		"any other":     {say("", errors.New("x\x00\ny\xff"+strings.Repeat("字", 200))), inbox.VerdictParked, inbox.Parked, "x  y 字", 0, ""},
		"a panic":       {panics, inbox.VerdictParked, inbox.Parked, "the handler panicked", 0, ""},
		"an aborted tx": {broken, inbox.VerdictParked, inbox.Parked, "25P02", 0, ""},
	}
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		return cases[e.ID].handle(ctx, tx, e)
	}))
	for name, c := range cases {
		got := b.deliver(told(name, "paid", name, total))
		require.Equal(t, []any{c.verdict, c.state, c.outcome}, []any{got.Verdict, got.State, got.Outcome}, name)
		items := b.list(c.state)
		item := items[len(items)-1]
		require.Equal(t, name, item.EventID)
		require.Equal(t, c.outcome, item.Outcome, name)
		require.Contains(t, item.Reason, c.reason, name)
		require.LessOrEqual(t, len(item.Reason), 300, name)
		require.NotContains(t, item.Reason, "4111", name)
		require.Equal(t, c.effects, b.count(`SELECT count(*) FROM shop_points WHERE kind = $1`, name), name)
	}
}

// An event that a crash left "received" is taken over by the provider's repeat
// when its lease has ended, and not before.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("evt_1", "paid", "p1", total)
	b.crash(n)
	require.Equal(t, inbox.VerdictRunning, b.deliver(n).Verdict)
	require.Zero(t, b.retry())
	b.requireLease()
	b.requireOrder(order.StatePaying, "order_paid", 0)
	b.later()
	_, err := (&inbox.Retry{Inbox: b.Inbox}).Once(fault.With(t.Context(), inbox.PointReceived, fault.Fail))
	require.ErrorIs(t, err, fault.ErrInjected, "a retry dies too")
	b.requireLease()
	require.Equal(t, inbox.VerdictRunning, b.deliver(n).Verdict)
	b.later()
	require.Equal(t, inbox.VerdictDone, b.deliver(n).Verdict)
	b.requireOrder(order.StatePaid, "order_paid", 1)

	// Without the lease, every repeat is a duplicate of a row that nobody works on.
	b.exec(`DELETE FROM fsm_inbox`)
	b.crash(n)
	b.later()
	naive := b.count(`WITH stored AS (
		INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, due_at, gives_up_at)
		SELECT provider, event_id, type, '', '', '', delivery_id, 'received', now(), now() FROM fsm_inbox
		ON CONFLICT DO NOTHING RETURNING id) SELECT count(*) FROM stored`)
	require.Zero(t, naive, "it would not be processed")
}

// While its owner's transaction is under way, an event is not taken over, however
// old its lease is, and nobody waits for it.
func TestHeldEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("evt_1", "paid", "p1", total)
	b.crash(n)
	b.later()
	owner, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = owner.Rollback(context.Background()) }()
	_, err = owner.Exec(t.Context(), `SELECT 1 FROM fsm_inbox FOR NO KEY UPDATE`)
	require.NoError(t, err)
	require.Equal(t, inbox.VerdictRunning, b.deliver(n).Verdict)
	require.Zero(t, b.retry())
	require.NoError(t, owner.Rollback(t.Context()))
	require.Equal(t, 1, b.retry())
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// Who lost the event to another does no work, writes nothing on it, and tells what
// came of it.
func TestLostEvent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		calls.Add(1)
		return settle(ctx, tx, e)
	})).withOrder()
	n := told("evt_1", "paid", "p1", total)
	ctx := fault.With(t.Context(), inbox.PointReceived, func(context.Context) error {
		b.later() // the first one's process stood still
		require.Equal(t, inbox.VerdictDone, b.deliver(n).Verdict)
		return nil
	})
	r, err := b.Receive(ctx, "stripe", b.signed(n.body()), n.body())
	require.NoError(t, err)
	require.Equal(t, inbox.Done, r.Told[0].State)
	require.Equal(t, fsm.Applied, r.Told[0].Outcome)
	require.Equal(t, int64(1), calls.Load())
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

// Who lost it while another is still at work does not undo the other's claim.
func TestLostToOneAtWork(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	n := told("evt_1", "paid", "p1", total)
	ctx := fault.With(t.Context(), inbox.PointReceived, func(context.Context) error {
		b.later()
		b.crash(n) // another claimed it, and is on its way
		return nil
	})
	r, err := b.Receive(ctx, "stripe", b.signed(n.body()), n.body())
	require.NoError(t, err)
	require.Equal(t, inbox.VerdictRunning, r.Told[0].Verdict)
	b.requireLease()
	b.requireOrder(order.StatePaying, "order_paid", 0)
}

// An event that ends its processor again and again is given up without another
// try.
func TestInterruptedTooOften(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	b.crash(told("evt_1", "paid", "p1", total))
	b.exec(`UPDATE fsm_inbox SET attempts = 50`)
	b.later()
	require.Equal(t, 1, b.retry())
	require.Contains(t, b.list(inbox.Dead)[0].Reason, "interrupted too often")
	b.requireOrder(order.StatePaying, "order_paid", 0)
}

// A delivery whose outcome was never recorded is closed as interrupted.
func TestInterruptedDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	b.crash(told("evt_1", "paid", "p1", total))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NULL`))
	b.later()
	b.retry()
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_deliveries WHERE verdicts = '{interrupted}'`))
}

// Poison waits longer each time, and keeps no other event from its turn.
func TestPoisonAndOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if e.ID == "evt_good" && e.Attempt > 1 {
			return fsm.Applied, nil
		}
		return "", errors.New("poison")
	}), func(c *inbox.Config) { c.Backoff, c.MaxBackoff = time.Second, time.Hour })
	for _, id := range []string{"evt_1", "evt_2", "evt_good", "evt_3"} {
		b.deliver(told(id, "paid", "p_"+id, total))
	}
	b.later()
	require.Equal(t, 4, b.retry())
	require.Len(t, b.list(inbox.Parked), 3)
	require.Len(t, b.list(inbox.Done), 1)
	require.Equal(t, 3, b.count(`SELECT count(*) FROM fsm_inbox WHERE due_at > now() + interval '1.5 seconds' AND due_at <= now() + interval '2 seconds'`))
}

// Two workers share what waits: each event is one's.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	b := newBench(t, handling(func(_ context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if e.Attempt == 1 {
			return "", inbox.ErrTooEarly
		}
		calls.Add(1)
		return fsm.Applied, nil
	}))
	for i := range 40 {
		b.deliver(told("evt_"+uuidOf(i), "paid", "p"+uuidOf(i), total))
	}
	b.later()
	next := `SELECT id FROM fsm_inbox WHERE due_at <= now() ORDER BY due_at, id LIMIT 1`
	require.Equal(t, b.count(next), b.count(next), "workers who only look both take the same")
	tried := make(chan int)
	for range 2 {
		go func() { tried <- b.retry() }()
	}
	require.Equal(t, 40, <-tried+<-tried)
	require.Equal(t, int64(40), calls.Load())
}
