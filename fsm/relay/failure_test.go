package relay_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/relay"
)

// A row that was written and could not be sent was taken for sent. Created and
// delivered are two things here.
func TestAPublisherThatFailsOnce(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 2, "a")
	var told []error
	calls := 0
	b := &broker{judge: func(context.Context, relay.Message) error {
		if calls++; calls == 1 {
			return errRefused
		}
		return nil
	}}
	r := &relay.Relay{DB: pool, Publisher: b, Backoff: again, Failed: func(err error) { told = append(told, err) }}
	n, err := (&relay.Relay{DB: pool, Publisher: refusing{}, Backoff: func(int) time.Duration { return time.Hour }}).Once(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 2, count(t, pool, "fsm_outbox"))
	require.Zero(t, count(t, pool, "fsm_outbox_sent"))
	require.Zero(t, once(t, r), "not yet due")
	require.NoError(t, relay.Retry(t.Context(), pool, "order", "a"))

	require.Zero(t, once(t, r), "fails once more")
	require.Len(t, told, 1)
	var failed *relay.PublishError
	require.ErrorAs(t, told[0], &failed)
	require.ErrorIs(t, told[0], errRefused)
	require.Equal(t, 1, failed.Tries, "counted anew by Retry")
	require.EqualError(t, failed, `relay: order "a" version 1, topic order_paid: not taken (try 1): refused by the test`)
	require.Equal(t, 2, once(t, r))
	require.Equal(t, []int64{1, 2}, b.told("a"))
	require.Equal(t, 2, count(t, pool, "fsm_outbox_sent"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
}

type refusing struct{}

func (refusing) Publish(context.Context, relay.Message) error { return errRefused }

// A message that is refused every time holds up its own key, whole pages of it
// included, and no other.
func TestPoisonHoldsUpItsKeyAlone(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 50, "poison")
	emit(t, pool, "good", 1)
	b := &broker{judge: refuse("poison")}
	r := &relay.Relay{DB: pool, Publisher: b, Batch: 10, Backoff: func(int) time.Duration { return time.Hour }}
	require.Zero(t, once(t, r))
	require.Equal(t, 1, once(t, r), "behind five pages of rows that wait")
	require.Equal(t, []string{"good 1"}, b.all())
	var pointing int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM fsm_outbox WHERE hold IS NOT NULL`).Scan(&pointing))
	require.Equal(t, 50, pointing, "so that the pages are not read again")

	holds, err := relay.Holds(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Len(t, holds, 1)
	require.NotNil(t, holds[0].Next)
	require.WithinDuration(t, time.Now().Add(time.Hour), *holds[0].Next, time.Minute)
	holds[0].Next, holds[0].Since = nil, time.Time{}
	require.Equal(t, relay.Hold{Machine: "order", Key: "poison", Row: 1, Version: 1, Event: "pay", Topic: "order_paid", Waiting: 50, Tries: 1, Error: "refused by the test"}, holds[0])
	execute(t, pool, `UPDATE fsm_outbox_holds SET next_at = 'infinity'`)
	holds, err = relay.Holds(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Nil(t, holds[0].Next, "somebody set it")
	execute(t, pool, `UPDATE fsm_outbox_holds SET next_at = now() + interval '1 hour'`)

	b.judge = nil
	require.NoError(t, relay.Retry(t.Context(), pool, "order", "poison"))
	emit(t, pool, "poison", 51)
	drain(t, r, pool)
	require.Equal(t, upTo(51), b.told("poison"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
}

// After so many tries a key is parked, and only a person has it go on.
func TestParkedKeysWaitForAPerson(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 3, "poison")
	var tries []string
	b := &broker{judge: refuse("poison")}
	r := &relay.Relay{DB: pool, Publisher: b, Tries: 3, Backoff: again, Failed: func(err error) {
		var failed *relay.PublishError
		if errors.As(err, &failed) {
			tries = append(tries, fmt.Sprint(failed.Tries, failed.Parked))
		}
	}}
	require.Zero(t, once(t, r))
	first, err := relay.Holds(t.Context(), pool, 1)
	require.NoError(t, err)
	for range 5 {
		require.Zero(t, once(t, r))
	}
	require.Equal(t, []string{"1 false", "2 false", "3 true"}, tries)
	lag, err := relay.ReadLag(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, relay.Lag{Waiting: 3, Oldest: lag.Oldest, Held: 1, Parked: 1}, lag)
	holds, err := relay.Holds(t.Context(), pool, 1)
	require.NoError(t, err)
	require.Len(t, holds, 1)
	require.Nil(t, holds[0].Next)
	require.Equal(t, 3, holds[0].Tries)
	require.Equal(t, first[0].Since, holds[0].Since)

	d := relay.Decision{Actor: "ann", Reason: "the customer is gone"}
	require.ErrorIs(t, relay.SetAside(t.Context(), pool, "order", "poison", holds[0].Row+1, d), relay.ErrChanged)
	require.ErrorIs(t, relay.SetAside(t.Context(), pool, "order", "nobody", 1, d), relay.ErrNotHeld)
	require.ErrorIs(t, relay.Retry(t.Context(), pool, "order", "nobody"), relay.ErrNotHeld)
	require.NoError(t, relay.SetAside(t.Context(), pool, "order", "poison", holds[0].Row, d))
	var left string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT concat_ws('|', key, version, tries, error, actor, reason) FROM fsm_outbox_aside`).Scan(&left))
	require.Equal(t, "poison|1|3|refused by the test|ann|the customer is gone", left)

	b.judge = nil
	drain(t, r, pool)
	require.Equal(t, []int64{2, 3}, b.told("poison"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_aside"))
}

// The last message of a key set aside leaves no hold behind.
func TestSetAsideOfTheLastMessage(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "poison")
	r := &relay.Relay{DB: pool, Publisher: refusing{}, Tries: 1}
	require.Zero(t, once(t, r))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, relay.SetAside(t.Context(), tx, "order", "poison", 1, relay.Decision{Actor: "ann", Reason: "twice"}))
	require.ErrorIs(t, relay.SetAside(t.Context(), pool, "order", "poison", 1, relay.Decision{Actor: "bob", Reason: "too"}), relay.ErrBusy)
	require.NoError(t, tx.Commit(t.Context()))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
	require.Zero(t, count(t, pool, "fsm_outbox"))
}

// What is written while a held key is sent belongs to the hold that goes on, so
// that one relay takes all the rest.
func TestRowsThatComeWhileAHeldKeyIsSent(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Backoff: again}))
	b := &broker{judge: func(_ context.Context, m relay.Message) error {
		if m.Version == 1 {
			emit(t, pool, "a", 2)
			emit(t, pool, "a", 3)
		}
		return nil
	}}
	r := &relay.Relay{DB: pool, Publisher: b}
	require.Equal(t, 1, once(t, r))
	var state string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', o.version, h.tries, h.error = '', h.next_at <= now()), ',' ORDER BY o.id)
		FROM fsm_outbox AS o LEFT JOIN fsm_outbox_holds AS h ON h.id = o.hold`).Scan(&state))
	require.Equal(t, "2 0 t t,3", state, "the first that is left points at the hold, which is due")
	require.Equal(t, 2, once(t, r))
	require.Equal(t, upTo(3), b.told("a"))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
}

// nested makes savepoints where a transaction is asked for.
type nested struct{ pgx.Tx }

func (n nested) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return n.Begin(ctx) }

// A person who decides, and takes long to commit, keeps no relay waiting.
func TestADecisionUnderWay(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 2, "poison", "late")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Backoff: again}))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, relay.SetAside(t.Context(), nested{tx}, "order", "poison", 1, relay.Decision{Actor: "ann", Reason: "twice"}))
	ctx, cancel := context.WithTimeout(t.Context(), patience/3)
	defer cancel()
	b := &broker{}
	r := &relay.Relay{DB: pool, Publisher: b}
	n, err := r.Once(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"late 1", "late 2"}, b.all())
	require.NoError(t, tx.Commit(t.Context()))
	drain(t, r, pool)
	require.Equal(t, []int64{2}, b.told("poison"))
}

// A hold that another relay has just then is passed over, so that its tries are
// counted and its pause is kept by one.
func TestAHoldIsTriedByOne(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Backoff: again}))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	execute(t, tx, `SELECT FROM fsm_outbox_holds FOR NO KEY UPDATE`)
	r := &relay.Relay{DB: pool, Publisher: &broker{}}
	require.Zero(t, once(t, r))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, once(t, r))
}

// A hold whose rows a person deleted ends by itself.
func TestAHoldOfNothingEnds(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "poison")
	r := &relay.Relay{DB: pool, Publisher: refusing{}, Backoff: again}
	require.Zero(t, once(t, r))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_holds"))
	execute(t, pool, `DELETE FROM fsm_outbox`)
	require.Zero(t, once(t, r))
	require.Zero(t, count(t, pool, "fsm_outbox_holds"))
}

// A row waits for nobody when its hold is gone, whoever deleted it.
func TestRowsAreFreeWithoutTheirHold(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 3, "a")
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Tries: 1}))
	execute(t, pool, `DELETE FROM fsm_outbox_holds`)
	b := &broker{}
	require.Equal(t, 3, once(t, &relay.Relay{DB: pool, Publisher: b}))
	require.Equal(t, upTo(3), b.told("a"))
}

// A crash between sending and marking sends again, from the same place on, and
// whoever looks at the ids sees everything once and in order.
func TestOnlyACrashDuplicates(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 5, "a", "b")
	b := &broker{}
	r := &relay.Relay{DB: pool, Publisher: b, Parallel: 1, Batch: 4}
	_, err := r.Once(fault.With(t.Context(), relay.Sent, fault.Nth(3, fault.Fail)))
	require.ErrorIs(t, err, fault.ErrInjected)
	require.Zero(t, count(t, pool, "fsm_outbox_sent"))
	require.Len(t, b.all(), 3)
	n, err := r.Once(fault.With(t.Context(), relay.Marked, fault.Fail))
	require.ErrorIs(t, err, fault.ErrInjected)
	require.Equal(t, 4, n, "marked before it failed")
	drain(t, r, pool)
	require.Equal(t, []int64{1, 2, 1, 2, 3, 4, 5}, b.told("a"))
	require.Equal(t, []int64{1, 1, 2, 3, 4, 5}, b.told("b"))
	ids := map[string]int64{}
	for _, m := range b.accepted {
		if row, known := ids[m.ID]; known {
			require.Equal(t, row, m.Row)
		}
		ids[m.ID] = m.Row
	}
	require.Len(t, ids, 10)
}

// A publisher that panics holds up the key of the message, and kills nobody.
func TestAPublisherThatPanics(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a", "b")
	b := &broker{judge: func(_ context.Context, m relay.Message) error {
		if m.Key == "a" {
			panic("no such codec\x00\xff")
		}
		return nil
	}}
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b, Tries: 1}))
	holds, err := relay.Holds(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Equal(t, "the publisher panicked: no such codec\uFFFD\uFFFD", holds[0].Error)
}

// When the broker is down, not every key is held up for it.
func TestABrokerThatIsDown(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 50 {
		keys = append(keys, fmt.Sprint("key ", i))
	}
	pool := emitted(t, 1, keys...)
	require.Zero(t, once(t, &relay.Relay{DB: pool, Publisher: refusing{}, Parallel: 2, Tries: 1}))
	held := count(t, pool, "fsm_outbox_holds")
	require.GreaterOrEqual(t, held, 4)
	require.LessOrEqual(t, held, 5, "one more may have been under way")
	execute(t, pool, `UPDATE fsm_outbox_holds SET next_at = now()`)
	b := &broker{}
	drain(t, &relay.Relay{DB: pool, Publisher: b}, pool)
	require.Len(t, b.all(), 50)
}

// What cannot be done is refused before anything is sent.
func TestArguments(t *testing.T) {
	t.Parallel()
	var nobody fsm.DB // never asked
	for name, r := range map[string]*relay.Relay{
		"DB is nil":               {Publisher: refusing{}},
		"Publisher is nil":        {DB: begins{}},
		"Batch is not":            {DB: begins{}, Publisher: refusing{}, Batch: -1},
		"Batch is not from":       {DB: begins{}, Publisher: refusing{}, Batch: 1 << 20},
		"a field is negative":     {DB: begins{}, Publisher: refusing{}, Tries: -1},
		"Timeout is not from 1ms": {DB: begins{}, Publisher: refusing{}, Timeout: 1},
		"to 1h0m0s":               {DB: begins{}, Publisher: refusing{}, Timeout: 2 * time.Hour},
	} {
		_, err := r.Once(t.Context())
		require.ErrorIs(t, err, relay.ErrArgument)
		require.ErrorContains(t, err, name)
		require.ErrorIs(t, r.Run(t.Context()), relay.ErrArgument)
	}
	for _, bad := range []string{"", " ", "a\x00b", "\xff", string(make([]byte, 10_000))} {
		require.ErrorIs(t, relay.Retry(t.Context(), nobody, "order", bad), relay.ErrArgument)
		require.ErrorIs(t, relay.SetAside(t.Context(), nobody, "order", "a", 1, relay.Decision{Actor: bad, Reason: "x"}), relay.ErrArgument)
		require.ErrorIs(t, relay.SetAside(t.Context(), nobody, "order", "a", 1, relay.Decision{Actor: "x", Reason: bad}), relay.ErrArgument)
	}
	_, err := relay.Holds(t.Context(), nobody, -1)
	require.ErrorIs(t, err, relay.ErrArgument)
	for _, keep := range []time.Duration{0, -time.Hour} {
		_, err := relay.Sweep(t.Context(), nobody, keep)
		require.ErrorIs(t, err, relay.ErrArgument)
	}
}

type begins struct{ fsm.TxBeginner }
