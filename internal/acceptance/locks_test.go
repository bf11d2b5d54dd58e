package acceptance

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

func TestChildInsertsAreNotBlocked(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`CREATE TABLE lines (order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE)`)
	conn := s.conn()
	set(t, conn, `lock_timeout = '50ms'`)
	for _, tc := range []struct {
		name  string
		given []act
		held  act
		state string // SQLSTATE of the child's insert
	}{
		{"an update", nil, event(order.Pay, key1), ""},
		{"a fact and an update", nil, paid(key1, "P1", due), ""},
		{"a lock without an update", nil, paid(key1, "P1", 99), ""},
		{"a correction", nil, event(corrected(order.StatePaid), key1), ""},
		{"naive", nil, statement(`SELECT status FROM orders WHERE order_id = $1 FOR UPDATE`, string(key1)), "55P03"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.again(key1)
			tx := s.begin(pgx.TxOptions{})
			_, err := tc.held(t.Context(), tx)
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), `INSERT INTO lines VALUES ($1)`, string(key1))
			require.NoError(t, tx.Commit(t.Context()))
			if tc.state == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tc.state, sqlState(t, err))
		})
	}
}

// A call that writes nothing waits for nobody: it is answered while another
// session holds the row.
func TestNothingToWriteIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	held := s.begin(pgx.TxOptions{})
	_, err := event(order.Ship, key1)(t.Context(), held)
	require.NoError(t, err)
	conn := s.conn()
	set(t, conn, `lock_timeout = '50ms'`)
	for _, tc := range []struct {
		told string
		call act
	}{
		{"Replayed PAID 2", paid(key1, "P1", due)},
		{"Mismatched PAID 2", paid(key1, "P1", 99)},
		{"Rejected PAID 2", event(order.Pay, key1)},
		{"Ignored PAID 2", event(order.Expire, key1)},
		{"GuardFailed PAID 2", refund(key1, "R1", 101)},
		{"Stale PAID 2", refund(key1, "R1", 50, expect(1))},
	} {
		got, err := tc.call(t.Context(), conn)
		require.NoError(t, err, tc.told)
		require.Equal(t, tc.told, got)
	}
}
