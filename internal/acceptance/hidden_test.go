package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// counted counts the statements of calls.
type counted struct {
	fsm.DB
	n int
}

func (c *counted) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	c.n++
	return c.DB.QueryRow(ctx, sql, args...)
}

// A row that a policy shows and does not let anybody update races for ever; a
// call must not.
func TestAPolicyThatHidesTheRow(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	// Superusers pass policies by; this role is in every database.
	s.exec(`GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor`)
	s.exec(`ALTER TABLE orders ENABLE ROW LEVEL SECURITY`)
	s.exec(`CREATE POLICY seen ON orders FOR SELECT USING (true)`)
	conn := s.conn()
	_, err := conn.Exec(t.Context(), `SET ROLE pg_monitor`)
	require.NoError(t, err)
	for name, call := range map[string]act{
		"pay":        event(order.Pay, key1),
		"payment":    paid(key1, "P1", due),
		"correction": event(corrected(order.StatePaid), key1),
	} {
		db := &counted{DB: conn}
		_, err := call(t.Context(), db)
		require.ErrorIs(t, err, fsm.ErrContended, name)
		require.True(t, fsm.Retryable(err), name)
		require.Greater(t, db.n, 1, name)
		require.Less(t, db.n, 20, name)
	}
	got, err := event(order.Ship, key1)(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, "Rejected PENDING 1", got, "a call that would not write is answered")
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))

	s.exec(`CREATE POLICY changed ON orders FOR UPDATE USING (true)`)
	got, err = event(order.Pay, key1)(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, "Applied PAYING 2", got)
}

func TestUnknownStateInTheDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	s.exec(`ALTER TABLE orders DROP CONSTRAINT orders_status_check`)
	s.exec(`ALTER TABLE orders DISABLE TRIGGER order_edge`)
	s.exec(`UPDATE orders SET status = 'LIMBO'`)
	s.exec(`ALTER TABLE orders ENABLE TRIGGER order_edge`)
	before := s.tuple(key1)
	for name, call := range map[string]act{
		"transition and reject": event(order.Pay, key1),
		"deadline":              event(order.Expire, key1),
		"compensate":            paid(key1, "P2", due),
		"ignore":                payFailed(key1, "A1"),
		"guards":                refund(key1, "R1", 60),
		"batch": func(ctx context.Context, db fsm.DB) (string, error) {
			results, err := order.PayBatch(ctx, db, []order.PayItem{{Key: key1}})
			require.NoError(t, err)
			return "", results[0].Err
		},
	} {
		_, err := call(t.Context(), s.pool)
		var unknown *fsm.UnknownStateError
		require.ErrorAs(t, err, &unknown, name)
		require.Equal(t, fsm.UnknownStateError{Machine: "order", State: "LIMBO"}, *unknown, name)
		require.ErrorIs(t, err, fsm.ErrNothingDone, name)
		require.False(t, fsm.Retryable(err), name)
	}
	require.Equal(t, before, s.tuple(key1))
	require.Equal(t, "P1=Applied", s.life(key1).Facts)

	s.says("Replayed LIMBO 2", paid(key1, "P1", due)) // known before any state is looked at
	require.Equal(t, order.State("LIMBO"), s.row(key1).Status)
	s.says("Applied PAID 3", event(corrected(order.StatePaid), key1))
	s.says("Applied SHIPPED 4", event(order.Ship, key1))
}
