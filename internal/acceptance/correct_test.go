package acceptance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

var why = fsm.Correction{Actor: "ann", Reason: "ticket 7"}

// corrected is the correction to a state as if it were an event.
func corrected(to order.State) func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error) {
	return func(ctx context.Context, db fsm.DB, key order.Key, options ...fsm.Option) (order.Result, error) {
		return order.Correct(ctx, db, key, to, why, options...)
	}
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.says("Stale PENDING 1", event(corrected(order.StateCompleted), key1, expect(9)))
	s.says("Applied COMPLETED 2", event(corrected(order.StateCompleted), key1, expect(1), fsm.RequestID("q1"))) // no edge leads there
	s.says("Ignored COMPLETED 2", event(corrected(order.StateCompleted), key1))
	s.says("Applied PENDING 3", event(corrected(order.StatePending), key1))
	require.Equal(t, life{"PENDING 3 0/0", "correct:PENDING>COMPLETED correct:COMPLETED>PENDING", "", ""}, s.life(key1))
	requireTime(t, noon.Add(30*time.Minute), s.row(key1).DeadlineAt)

	entries, err := order.History(t.Context(), s.pool, key1, 1, 10)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.True(t, entries[0].At.Equal(noon))
	entries[0].At = noon
	require.Equal(t, fsm.Entry[order.State]{
		Version: 2, Event: "correct", From: order.StatePending, To: order.StateCompleted,
		Actor: "ann", Reason: "ticket 7", RequestID: "q1", Forced: true, At: noon,
	}, entries[0])
	require.Equal(t, "order 2 correct PENDING COMPLETED ann ticket 7 q1|order 3 correct COMPLETED PENDING ann ticket 7 ", s.text(
		`SELECT string_agg(concat_ws(' ', machine, version, action, from_status, to_status, actor, reason, request_id), '|' ORDER BY id) FROM fsm_audit`))
}

func TestCorrectNeedsWhoWhyAndWhere(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	for _, tc := range []struct {
		to  order.State
		why fsm.Correction
	}{
		{order.StatePaid, fsm.Correction{}},
		{order.StatePaid, fsm.Correction{Actor: "ann"}},
		{order.StatePaid, fsm.Correction{Reason: "ticket 7"}},
		{"LIMBO", why},
	} {
		_, err := order.Correct(t.Context(), s.pool, key1, tc.to, tc.why, fsm.Actor("x"), fsm.Reason("y"))
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
	_, err := order.Correct(t.Context(), s.pool, key2, order.StatePaid, why)
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
}

// A raw UPDATE cannot pass for a correction.
func TestPretendedCorrections(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(event(corrected(order.StateShipped), key1), event(corrected(order.StatePending), key1))
	const history = `INSERT INTO order_history (order_id, version, event, from_status, to_status, actor, reason, forced, at)
		VALUES ($1, 4, 'correct', 'PENDING', 'SHIPPED', $2, $2, $3, now())`
	const update = `UPDATE orders SET status = 'SHIPPED', version = 4 WHERE order_id = $1`
	for _, tc := range []struct {
		name, constraint string
		actor            string
		forced, without  bool
	}{
		{name: "after a real one of the same states", constraint: "order_edge", without: true},
		{name: "with history that is not forced", constraint: "order_edge", actor: "ann"},
		{name: "with forced history of nobody", constraint: "order_history_forced_check", forced: true},
	} {
		tx, err := s.pool.Begin(t.Context())
		require.NoError(t, err)
		if !tc.without {
			_, err = tx.Exec(t.Context(), history, string(key1), tc.actor, tc.forced)
		}
		if err == nil {
			_, err = tx.Exec(t.Context(), update, string(key1))
		}
		require.NoError(t, tx.Rollback(t.Context()))
		requireViolation(t, err, tc.constraint, tc.name)
	}
	require.Equal(t, "PENDING 3 0/0", s.life(key1).Row)
}
