package inbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/gen/order"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) { c.MaxAttempts = 1 })
	dead := b.deliver(told("evt_1", "paid", "p1", total))
	require.Equal(t, inbox.VerdictDead, dead.Verdict)
	b.withOrder()
	got, err := b.Replay(t.Context(), dead.Event, "ann", "the order was restored")
	require.NoError(t, err)
	require.Equal(t, inbox.VerdictDone, got.Verdict)
	require.Equal(t, fsm.Applied, got.Outcome)
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit WHERE machine = 'fsm_inbox' AND key = $1 AND action = 'replay'
		AND from_status = 'dead' AND to_status = 'received' AND actor = 'ann' AND reason = 'the order was restored'`, itoa(dead.Event)))

	_, err = b.Replay(t.Context(), dead.Event, "ann", "again")
	require.ErrorIs(t, err, inbox.ErrState)
	var state *inbox.StateError
	require.ErrorAs(t, err, &state)
	require.Equal(t, inbox.Done, state.State)
	_, err = b.Replay(t.Context(), dead.Event+1, "ann", "why")
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit`))
}

// A replay that fails parks the event with tries as at first; one that is killed
// leaves it to Retry.
func TestReplayFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	parked := b.deliver(told("evt_1", "paid", "p1", total))
	b.exec(`UPDATE fsm_inbox SET attempts = 49, gives_up_at = now()`)
	got, err := b.Replay(t.Context(), parked.Event, "ann", "try")
	require.NoError(t, err)
	require.Equal(t, inbox.VerdictParked, got.Verdict)
	require.Equal(t, 1, b.list(inbox.Parked)[0].Attempts)

	b.withOrder()
	_, err = b.Replay(fault.With(t.Context(), inbox.PointReceived, fault.Fail), parked.Event, "ann", "try")
	require.ErrorIs(t, err, fault.ErrInjected)
	b.requireLease()
	b.later()
	require.Equal(t, 1, b.retry())
	b.requireOrder(order.StatePaid, "order_paid", 1)
}

func TestEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := told("evt_1", "paid", "p1", total)
	parked := b.deliver(n)
	require.NoError(t, b.End(t.Context(), parked.Event, "ann", "the order was discarded"))
	require.Len(t, b.list(inbox.Closed), 1)
	b.withOrder()
	b.later()
	require.Zero(t, b.retry())
	require.Equal(t, inbox.VerdictDuplicate, b.deliver(n).Verdict)
	require.ErrorIs(t, b.End(t.Context(), parked.Event, "ann", "again"), inbox.ErrState)
	b.requireOrder(order.StatePaying, "order_paid", 0)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit WHERE action = 'end' AND to_status = 'closed'`))
}

// A command says who and why, in readable words, before any SQL.
func TestCommandsArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, text := range []string{"", " ", "a\x00", "a\nb", "\xff", strings.Repeat("x", 10_000)} {
		_, err := b.Replay(t.Context(), 1, text, "why")
		require.ErrorIs(t, err, fsm.ErrArgument)
		err = b.End(t.Context(), 1, "ann", text)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
}

// Two people replay at once, both while the event is held: one event, one effect, one
// audit row. (Who looks at the state without a lock replays it too.)
func TestReplayAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	parked := b.deliver(told("evt_1", "paid", "p1", total))
	b.withOrder()
	held, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = held.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = held.Exec(t.Context(), `SELECT FROM fsm_inbox FOR UPDATE`)
	require.NoError(t, err)
	results := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := b.Replay(context.WithoutCancel(t.Context()), parked.Event, "ann", "try")
			results <- err
		}()
	}
	b.awaitWaiters(2, nil)
	require.NoError(t, held.Rollback(t.Context()))
	first, second := <-results, <-results
	if first == nil {
		first, second = second, first
	}
	require.ErrorIs(t, first, inbox.ErrState)
	require.NoError(t, second)
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit`))
}

// Another service's event is not touched, and neither is one of a provider that
// is gone.
func TestForeignEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	parked := b.deliver(told("evt_1", "paid", "p1", total))
	b.exec(`UPDATE fsm_inbox SET provider = 'elsewhere'`)
	b.later()
	require.Zero(t, b.retry())
	_, err := b.Replay(t.Context(), parked.Event, "ann", "try")
	require.ErrorIs(t, err, inbox.ErrProvider)
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_audit`))
}

func TestListPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 5 {
		b.deliver(told("evt_"+itoa(int64(i)), "paid", "p"+itoa(int64(i)), total))
	}
	var seen []string
	q := inbox.Query{State: inbox.Parked, Provider: "stripe", Limit: 2}
	for {
		items, err := inbox.List(t.Context(), b.pool, q)
		require.NoError(t, err)
		if len(items) == 0 {
			break
		}
		require.LessOrEqual(t, len(items), 2)
		for _, i := range items {
			seen = append(seen, i.EventID)
		}
		q.After = items[len(items)-1].ID
	}
	require.Equal(t, []string{"evt_0", "evt_1", "evt_2", "evt_3", "evt_4"}, seen)
	items, err := inbox.List(t.Context(), b.pool, inbox.Query{State: inbox.Parked, Provider: "bank"})
	require.NoError(t, err)
	require.Empty(t, items)
	for _, q := range []inbox.Query{{}, {State: "x"}, {State: inbox.Dead, Provider: "\x00"}} {
		_, err = inbox.List(t.Context(), b.pool, q)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
}

// Bodies go before rows; what waits and what is dead stays, also where it fills
// more than a batch.
func TestSweep(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	b := newBench(t, handling(func(_ context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if strings.HasPrefix(e.ID, "evt_open") {
			return "", fsm.ErrNotFound
		}
		return fsm.Applied, nil
	}))
	for i := range 5 {
		b.deliver(told("evt_open_"+itoa(int64(i)), "paid", "o"+itoa(int64(i)), total))
	}
	b.exec(`UPDATE fsm_inbox SET state = 'dead', due_at = NULL, ended_at = now() WHERE event_id = 'evt_open_0'`)
	for i := range 5 {
		b.deliver(told("evt_"+itoa(int64(i)), "paid", "p"+itoa(int64(i)), total))
	}
	_, err := b.Receive(t.Context(), "stripe", nil, nil)
	require.ErrorIs(t, err, inbox.ErrRefused)
	age := func(d string) {
		b.exec(`UPDATE fsm_deliveries SET received_at = received_at - $1::interval`, d)
		b.exec(`UPDATE fsm_inbox SET ended_at = ended_at - $1::interval`, d)
		b.exec(`UPDATE fsm_refused_deliveries SET day = (day - $1::interval)::date`, d)
	}
	keep := inbox.Retention{Bodies: 10 * days, Rows: 40 * days, Batch: 2}
	sweep := func() inbox.Swept {
		swept, err := b.Sweep(t.Context(), keep)
		require.NoError(t, err)
		return swept
	}
	require.Zero(t, sweep())
	age("11 days")
	require.Equal(t, inbox.Swept{Bodies: 5}, sweep())
	age("31 days")
	require.Equal(t, inbox.Swept{Events: 5, Deliveries: 5, Refusals: 1}, sweep())
	require.Zero(t, sweep())
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_inbox_archive`))
	for i := range 5 {
		b.deliver(told("evt_"+itoa(int64(i)), "paid", "p"+itoa(int64(i)), total))
	}
	age("41 days")
	keep.Archive = true
	require.Equal(t, inbox.Swept{Bodies: 5, Events: 5, Deliveries: 5}, sweep())
	require.Equal(t, 5, b.count(`SELECT count(*) FROM fsm_inbox_archive WHERE state = 'done' AND outcome = 'Applied' AND event_id LIKE 'evt_%'`))
	require.Len(t, b.list(inbox.Parked), 4)
	require.Len(t, b.list(inbox.Dead), 1)
	require.Equal(t, 5, b.count(`SELECT count(*) FROM fsm_deliveries WHERE body IS NOT NULL`))

	for _, bad := range []inbox.Retention{{}, {Bodies: days}, {Bodies: -1, Rows: days}, {Bodies: 40 * days, Rows: 10 * days}, {Bodies: days, Rows: 3 * days}} {
		_, err := b.Sweep(t.Context(), bad)
		require.ErrorIs(t, err, inbox.ErrConfig)
	}
}

// What contradicts an event, or cannot be read, waits for a person: it is swept
// when that person has closed it, and not before, nor what it contradicts.
func TestSweepKeepsWhatIsOdd(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	b := newBench(t, handling(func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { return fsm.Applied, nil }))
	send := func(body []byte) int64 {
		r, _ := b.Receive(t.Context(), "stripe", b.signed(body), body)
		return r.Delivery
	}
	first := send(told("evt_1", "paid", "p1", total).body())
	conflict := send(told("evt_1", "paid", "p1", total+1).body())
	unreadable := send([]byte("x"))
	again := send([]byte("x"))
	other := send([]byte("y"))
	send(told("evt_2", "paid", "p2", total).body())
	odd := func() (ids []int64) {
		page, err := inbox.Odd(t.Context(), b.pool, 0, 0)
		require.NoError(t, err)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
		return ids
	}
	sweep := func() inbox.Swept {
		swept, err := b.Sweep(t.Context(), inbox.Retention{Bodies: 10 * days, Rows: 40 * days, Batch: 1})
		require.NoError(t, err)
		return swept
	}
	b.exec(`UPDATE fsm_deliveries SET received_at = received_at - interval '1 year'`)
	b.exec(`UPDATE fsm_inbox SET ended_at = ended_at - interval '1 year'`)

	require.Equal(t, inbox.Swept{Bodies: 1, Events: 1, Deliveries: 1}, sweep(), "evt_2 alone")
	require.Equal(t, []int64{conflict, unreadable, again, other}, odd())
	for _, id := range []int64{first, conflict, unreadable, other} {
		body, err := inbox.Body(t.Context(), b.pool, id)
		require.NoError(t, err)
		require.NotNil(t, body)
	}

	require.NoError(t, b.EndOdd(t.Context(), again, "ann", "not one of ours"))
	require.Equal(t, []int64{conflict, other}, odd(), "what is the same needs one look")
	require.Equal(t, inbox.Swept{Bodies: 1, Deliveries: 2}, sweep())
	require.NoError(t, b.EndOdd(t.Context(), conflict, "ann", "the provider erred"))
	require.Equal(t, []int64{other}, odd())
	require.Equal(t, inbox.Swept{Bodies: 2, Events: 1, Deliveries: 2}, sweep())
	require.Equal(t, []int64{other}, odd())
	require.Equal(t, 3, b.count(`SELECT count(*) FROM fsm_audit WHERE machine = 'fsm_deliveries' AND action = 'close' AND actor = 'ann'`))
}

func TestEndOddErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r, err := b.Receive(t.Context(), "stripe", b.signed([]byte("x")), []byte("x"))
	require.ErrorIs(t, err, inbox.ErrUnreadable)
	plain := b.deliver(told("evt_1", "paid", "p1", total))
	require.Equal(t, inbox.VerdictParked, plain.Verdict)
	for _, who := range [][2]string{{"", "why"}, {"ann", ""}, {"ann", "\x00"}} {
		require.ErrorIs(t, b.EndOdd(t.Context(), r.Delivery, who[0], who[1]), fsm.ErrArgument)
	}
	require.ErrorIs(t, b.EndOdd(t.Context(), 99, "ann", "why"), fsm.ErrNotFound)
	require.ErrorIs(t, b.EndOdd(t.Context(), r.Delivery+1, "ann", "why"), inbox.ErrNotOdd)
	require.NoError(t, b.EndOdd(t.Context(), r.Delivery, "ann", "why"))
	require.ErrorIs(t, b.EndOdd(t.Context(), r.Delivery, "bob", "why"), inbox.ErrNotOdd)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit`))
	b.exec(`UPDATE fsm_deliveries SET provider = 'gone'`)
	require.ErrorIs(t, b.EndOdd(t.Context(), r.Delivery, "ann", "why"), inbox.ErrProvider)
}

func TestRetryRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.deliver(told("evt_1", "paid", "p1", total))
	b.withOrder()
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	r := &inbox.Retry{Inbox: b.Inbox, Every: time.Minute, Wait: func(ctx context.Context, d time.Duration) error {
		require.Equal(t, time.Minute, d)
		if rounds++; rounds == 1 {
			b.later()
			return nil
		}
		cancel()
		return ctx.Err()
	}}
	require.ErrorIs(t, r.Run(ctx), context.Canceled)
	b.requireOrder(order.StatePaid, "order_paid", 1)
	require.ErrorIs(t, (&inbox.Retry{Inbox: b.Inbox}).Run(ctx), context.Canceled)
}

func TestPending(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pending := func() inbox.Backlog {
		p, err := inbox.Pending(t.Context(), b.pool)
		require.NoError(t, err)
		return p
	}
	require.Zero(t, pending())
	b.deliver(told("evt_1", "paid", "p1", total))
	b.deliver(told("evt_2", "paid", "p2", total))
	require.Equal(t, inbox.Backlog{Waiting: 2}, pending(), "none is due yet")
	b.exec(`UPDATE fsm_inbox SET due_at = now() - interval '1 hour' WHERE event_id = 'evt_1'`)
	b.exec(`UPDATE fsm_inbox SET state = 'dead', due_at = NULL, ended_at = now() WHERE event_id = 'evt_2'`)
	got := pending()
	require.Equal(t, []int64{1, 1}, []int64{got.Waiting, got.Dead})
	require.InDelta(t, time.Hour, got.Overdue, float64(time.Minute))
	for _, infinite := range []string{"-infinity", "infinity"} {
		b.exec(`UPDATE fsm_inbox SET due_at = '` + infinite + `' WHERE event_id = 'evt_1'`)
		require.Equal(t, inbox.Backlog{Waiting: 1, Dead: 1}, pending(), "for how long is not known")
		items, err := inbox.List(t.Context(), b.pool, inbox.Query{State: inbox.Parked})
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.Nil(t, items[0].Due)
	}
}
