package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// The sweep takes all that is old, over several pages, and nothing that is not.
func TestSweep(t *testing.T) {
	t.Parallel()
	pool := open(t)
	const old = 2*relay.SweepPage + 7
	execute(t, pool, `INSERT INTO fsm_outbox_sent (id, machine, key, version, event, topic, payload, at, sent_at)
		SELECT i, 'order', 'a', i, 'pay', 'order_paid', '{}', now(), now() - CASE WHEN i <= $1 THEN interval '2 days' ELSE interval '1 hour' END
		FROM generate_series(1, $1 + 5) AS i`, old)
	n, err := relay.Sweep(t.Context(), pool, 24*time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, old, n)
	require.Equal(t, 5, count(t, pool, "fsm_outbox_sent"))
	n, err = relay.Sweep(t.Context(), pool, 24*time.Hour)
	require.NoError(t, err)
	require.Zero(t, n)
}

// A sweep beside another passes over what that one has.
func TestSweepsSideBySide(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 3, "a")
	require.Equal(t, 3, once(t, &relay.Relay{DB: pool, Publisher: &broker{}}))
	execute(t, pool, `UPDATE fsm_outbox_sent SET sent_at = sent_at - interval '1 day'`)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	execute(t, tx, `SELECT FROM fsm_outbox_sent WHERE version = 2 FOR UPDATE`)
	n, err := relay.Sweep(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.NoError(t, tx.Rollback(t.Context()))
}

// Delivered rows may be deleted at once; a row that is put into the outbox once
// more is delivered once more, with the same id.
func TestDiscardAndOnceMore(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 1, "a")
	b := &broker{}
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b}))
	execute(t, pool, `INSERT INTO fsm_outbox (id, machine, key, version, event, topic, payload, at) OVERRIDING SYSTEM VALUE
		SELECT id, machine, key, version, event, topic, payload, at FROM fsm_outbox_sent`)
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b}))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_sent"))
	require.Equal(t, b.accepted[0], b.accepted[1])

	emit(t, pool, "a", 2)
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b, Discard: true}))
	require.Equal(t, 1, count(t, pool, "fsm_outbox_sent"))
	require.Zero(t, count(t, pool, "fsm_outbox"))
}

// A row that is put back in front of one that is held up: nothing overtakes the held one,
// neither with the row nor behind it.
func TestPutBackInFrontOfAHeldRow(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 2, "a", "b")
	refused := true
	b := &broker{judge: func(_ context.Context, m relay.Message) error {
		if refused && m.Key == "a" && m.Version == 2 {
			return errRefused
		}
		return nil
	}}
	r := &relay.Relay{DB: pool, Publisher: b, Backoff: func(int) time.Duration { return time.Hour }}
	require.Equal(t, 3, once(t, r))
	execute(t, pool, `INSERT INTO fsm_outbox (id, machine, key, version, event, topic, payload, at) OVERRIDING SYSTEM VALUE
		SELECT id, machine, key, version, event, topic, payload, at FROM fsm_outbox_sent WHERE version = 1`)
	emit(t, pool, "a", 3)
	emit(t, pool, "b", 3)
	for range 2 {
		_, err := r.Once(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []int64{1, 1}, b.told("a"), "3 waits behind 2")
	require.Equal(t, []int64{1, 2, 1, 3}, b.told("b"))
	refused = false
	require.NoError(t, relay.Retry(t.Context(), pool, "order", "a"))
	drain(t, r, pool)
	require.Equal(t, []int64{1, 1, 2, 3}, b.told("a"))
}

// The lag is by the database's clock, and 0 where nothing waits; a time without
// an end stops nobody.
func TestLag(t *testing.T) {
	t.Parallel()
	pool := open(t)
	lag, err := relay.ReadLag(t.Context(), pool)
	require.NoError(t, err)
	require.Zero(t, lag)
	emit(t, pool, "a", 1)
	emit(t, pool, "a", 2)
	execute(t, pool, `UPDATE fsm_outbox SET at = CASE WHEN version = 1 THEN timestamptz '-infinity' ELSE now() - interval '90 seconds' END`)
	lag, err = relay.ReadLag(t.Context(), pool)
	require.NoError(t, err)
	require.EqualValues(t, 2, lag.Waiting)
	require.InDelta(t, 90, lag.Oldest.Seconds(), 30)
	var told []relay.Message
	require.Equal(t, 2, once(t, &relay.Relay{DB: pool, Publisher: &broker{}, Delivered: func(ms []relay.Message) { told = append(told, ms...) }}))
	require.EqualValues(t, 1, told[0].Version)
	require.JSONEq(t, `{"key": "a", "version": 2}`, string(told[1].Payload))
}
