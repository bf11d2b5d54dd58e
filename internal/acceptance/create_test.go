package acceptance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func created(p order.CreateParams, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := order.Create(ctx, db, p, options...)
		return told(r), err
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.says("Applied PENDING 1", created(newOrder(key1), fsm.At(noon), fsm.Actor("ann"), fsm.Reason("web"), fsm.RequestID("q1")))
	entries, err := order.History(t.Context(), s.pool, key1, 0, 10)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	requireTime(t, noon, &entries[0].At)
	entries[0].At = noon
	require.Equal(t, fsm.Entry[order.State]{
		Version: 1, Event: "create", To: order.StatePending, Actor: "ann", Reason: "web", RequestID: "q1", At: noon,
	}, entries[0])
	requireTime(t, noon.Add(30*time.Minute), s.row(key1).DeadlineAt)
	require.Equal(t, "order_created", s.text(`SELECT string_agg(topic, ' ') FROM fsm_outbox
		WHERE payload->'params' = '{"customer_id": "c1", "sku": "tea", "quantity": 1, "total_cents": 100}'`))

	before := s.tuple(key1)
	s.says("Replayed PENDING 1", created(newOrder(key1)))
	other := newOrder(key1)
	other.TotalCents++
	s.says("Mismatched PENDING 1", created(other))
	require.Equal(t, before, s.tuple(key1))

	// What transitions do to the row does not make its creation another one.
	s.must(paid(key1, "P1", due))
	r, err := order.Create(t.Context(), s.pool, newOrder(key1))
	require.NoError(t, err)
	require.Equal(t, "Replayed PAID 2", told(r))
	require.Equal(t, fsm.Transition[order.State]{Event: "create", Outcome: fsm.Applied, To: order.StatePending, Version: 1}, r.Transition)
	require.Equal(t, "1", s.text(`SELECT count(*)::text FROM fsm_outbox WHERE topic = 'order_created'`))

	bad := newOrder(key2)
	bad.Quantity = 0
	_, err = created(bad)(t.Context(), s.pool)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	requireViolation(t, err, "orders_quantity_check", "quantity")
	_, err = created(order.CreateParams{Key: "no uuid"})(t.Context(), s.pool)
	require.ErrorIs(t, err, fsm.ErrArgument)
	require.False(t, fsm.Retryable(err))
}

func TestTwoCreationsOfOneKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := newOrder(key3)
	other.Sku = "coffee"
	for _, tc := range []struct {
		key   order.Key
		loser order.CreateParams
		told  string
	}{
		{key1, newOrder(key1), "Replayed PENDING 1"},
		{key3, other, "Mismatched PENDING 1"},
	} {
		got := s.race(created(newOrder(tc.key)), created(tc.loser))
		require.NoError(t, got.err)
		require.Equal(t, tc.told, got.told)
		require.Equal(t, "1 1 tea", s.text(`SELECT concat_ws(' ',
			(SELECT count(*) FROM order_history WHERE order_id = $1),
			(SELECT count(*) FROM fsm_outbox WHERE key = $1::text), (SELECT sku FROM orders WHERE order_id = $1))`, string(tc.key)))
	}

	// Naive: one statement cannot see the row that it lost to.
	got := s.race(created(newOrder(key2)), statement(`WITH created AS (
		INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
		VALUES ($1, 'PENDING', 1, 'c1', 'tea', 1, 100) ON CONFLICT DO NOTHING RETURNING 'Applied')
		SELECT * FROM created UNION ALL
		SELECT 'Replayed' FROM orders WHERE order_id = $1 AND NOT EXISTS (SELECT FROM created)`, string(key2)))
	require.ErrorIs(t, got.err, pgx.ErrNoRows)
}

// Of fifty creations of one key one creates, and the others are told of it; fifty of
// keys of their own all create. (An id that was computed in code was a unique
// violation, and an empty answer.)
func TestFiftyCreationsAtOnce(t *testing.T) {
	t.Parallel()
	const callers = 50
	for _, tc := range []struct {
		name   string
		key    func(n int) order.Key
		orders int
	}{
		{"one key", func(int) order.Key { return key1 }, 1},
		{"keys of their own", func(n int) order.Key { return order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }, callers},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			var calls []<-chan answer
			for n := range callers {
				calls = append(calls, start(t.Context(), s.pool, created(newOrder(tc.key(n)))))
			}
			got := map[string]int{}
			for _, done := range calls {
				a := finish(t, done)
				require.NoError(t, a.err)
				got[a.told]++
			}
			want := map[string]int{"Applied PENDING 1": tc.orders}
			if tc.orders < callers {
				want["Replayed PENDING 1"] = callers - tc.orders
			}
			require.Equal(t, want, got)
			for _, table := range []string{"orders", "order_history", "fsm_outbox"} {
				require.Equal(t, fmt.Sprint(tc.orders), s.text(`SELECT count(*)::text FROM `+table), table)
			}
		})
	}
}

// A creation that was rolled back never was; the one that waited for it is the first.
func TestCreationAfterARollback(t *testing.T) {
	t.Parallel()
	s := open(t)
	held := s.begin(pgx.TxOptions{})
	_, err := created(newOrder(key1))(t.Context(), held)
	require.NoError(t, err)
	conn := s.conn()
	done := start(t.Context(), conn, created(newOrder(key1)))
	waitUntilBlocked(t, s.pool, pidOf(conn), done)
	require.NoError(t, held.Rollback(t.Context()))
	require.Equal(t, answer{told: "Applied PENDING 1"}, finish(t, done))
}

func TestCreateFiresThen(t *testing.T) {
	t.Parallel()
	s := open(t)
	calls := 0
	effect := order.Then(func(ctx context.Context, tx pgx.Tx, r order.Result) error {
		calls++
		return note(ctx, tx, r.Row.OrderID)
	})
	s.says("Applied PENDING 1", created(newOrder(key1), effect))
	s.says("Replayed PENDING 1", created(newOrder(key1), effect))
	require.Equal(t, 1, calls)
	_, err := created(newOrder(key2), order.Then(func(context.Context, pgx.Tx, order.Result) error { return errEffect }))(t.Context(), s.pool)
	require.ErrorIs(t, err, errEffect)
	_, err = order.Get(t.Context(), s.pool, key2)
	require.ErrorIs(t, err, fsm.ErrNotFound)
}
