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

// sweep sweeps all deadlines at a time and tells what moved.
func sweep(at time.Time) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		moved := ""
		_, err := (&fsm.Sweeper{
			DB: db, Sweeps: order.Sweeps(), Page: fsm.SweepPage{Now: &at, Limit: 2},
			Swept: func(rows []fsm.Swept) {
				for _, r := range rows {
					moved += fmt.Sprintf("%s:%s>%s@%d ", r.Key[len(r.Key)-1:], r.From, r.To, r.Version)
				}
			},
		}).Once(ctx)
		return moved, err
	}
}

func at(key order.Key, fire func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error), now time.Time) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := fire(ctx, db, key, fsm.At(now), fsm.Actor("test"))
		return told(r), err
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3)
	requireTime(t, noon.Add(30*time.Minute), s.row(key1).DeadlineAt)
	s.says("", sweep(noon.Add(30*time.Minute-time.Microsecond)))

	s.must(at(key1, order.Pay, noon.Add(20*time.Minute)))
	requireTime(t, noon.Add(35*time.Minute), s.row(key1).DeadlineAt)
	s.says("Applied PAID 2", paid(key2, "P1", due))
	require.Nil(t, s.row(key2).DeadlineAt, "PAID has none")

	s.says("3:PENDING>CANCELLED@2 ", sweep(noon.Add(30*time.Minute)))
	require.Nil(t, s.row(key3).DeadlineAt)
	require.Equal(t, "expire deadline", s.text(
		`SELECT concat_ws(' ', event, actor) FROM order_history WHERE order_id = $1 AND version = 2 AND at = $2`,
		string(key3), noon.Add(30*time.Minute)))

	s.must(event(order.Ship, key2))
	requireTime(t, noon.AddDate(0, 0, 10), s.row(key2).DeadlineAt)
	s.must(refund(key2, "R1", 60, fsm.At(noon.AddDate(0, 0, 9))))
	requireTime(t, noon.AddDate(0, 0, 19), s.row(key2).DeadlineAt) // a self-loop enters the state too
	s.must(refund(key2, "R2", 40, fsm.At(noon)))
	requireTime(t, noon.AddDate(0, 0, 1), s.row(key2).DeadlineAt) // REFUNDING
}

// A self-loop runs as often as the definition says, each time later.
func TestADeadlineThatRunsAgain(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(at(key1, order.Pay, noon))
	now := noon
	for run := int32(1); run <= 20; run++ {
		now = now.Add(15 * time.Minute)
		s.says("", sweep(now.Add(-time.Microsecond)))
		s.says(fmt.Sprintf("1:PAYING>PAYING@%d ", run+2), sweep(now))
		row := s.row(key1)
		require.Equal(t, run, row.DeadlineRuns)
		if run < 20 {
			requireTime(t, now.Add(15*time.Minute), row.DeadlineAt)
		} else {
			require.Nil(t, row.DeadlineAt)
		}
	}
	s.says("", sweep(now.AddDate(1, 0, 0)))
	require.Equal(t, "20", s.text(`SELECT count(*)::text FROM fsm_outbox WHERE topic = 'payment_query_due'`))

	// Coming into the state anew begins to count anew.
	s.must(payFailed(key1, "A1", fsm.At(now)), at(key1, order.Pay, now))
	require.Zero(t, s.row(key1).DeadlineRuns)
	requireTime(t, now.Add(15*time.Minute), s.row(key1).DeadlineAt)
	s.says("Applied PAYING 25", at(key1, order.QueryPayment, now)) // a direct call does not look at the time
	require.EqualValues(t, 1, s.row(key1).DeadlineRuns)
}

func TestSweepSkipsWhatOthersHold(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3)
	later := noon.Add(time.Hour)
	held := s.begin(pgx.TxOptions{})
	_, err := paid(key2, "P1", due)(t.Context(), held)
	require.NoError(t, err)
	conn := s.conn()
	set(t, conn, `lock_timeout = '50ms'`)
	got, err := sweep(later)(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, "1:PENDING>CANCELLED@2 3:PENDING>CANCELLED@2 ", got)
	require.NoError(t, held.Commit(t.Context()))
	s.says("", sweep(later))
	require.Equal(t, "PAID 2 100/0", s.life(key2).Row)
}

// The sweep in a transaction first, the payment after it: the money goes back.
func TestPaymentWaitsForASweep(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	got := s.race(sweep(noon.Add(time.Hour)), paid(key1, "P1", due))
	require.NoError(t, got.err)
	require.Equal(t, "Applied REFUNDING 3", got.told)
	require.Equal(t, life{
		"REFUNDING 3 100/100", "expire:PENDING>CANCELLED payment_succeeded:CANCELLED>REFUNDING", "P1=Applied", "refund_due",
	}, s.life(key1))
}

// The payment first, a direct expiry after it: too late, and no harm.
func TestExpiryWaitsForAPayment(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	got := s.race(paid(key1, "P1", due), event(order.Expire, key1))
	require.Equal(t, answer{told: "Ignored PAID 2"}, got)
	require.Equal(t, life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"}, s.life(key1))
}

// Two sweeps at once never move a row twice.
func TestTwoSweeps(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3)
	first := s.begin(pgx.TxOptions{})
	now := noon.Add(time.Hour)
	rows, err := order.Sweeps()[2](t.Context(), first, fsm.SweepPage{Now: &now, Limit: 2})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	conn := s.conn()
	set(t, conn, `lock_timeout = '50ms'`)
	second, err := sweep(now)(t.Context(), conn)
	require.NoError(t, err)
	require.Len(t, second, len("1:PENDING>CANCELLED@2 "))
	require.NoError(t, first.Commit(t.Context()))
	require.Equal(t, "3 3", s.text(`SELECT format('%s %s', count(*), count(DISTINCT order_id)) FROM order_history WHERE event = 'expire'`))
}

// Due when it was read, paying when it is written: a sweep in two statements
// cancels the order under the customer's hands.
func TestSweepIsBoundToStateAndTime(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, tc := range []struct {
		name      string
		meanwhile []act
		row       string
		naive     string
		naiveRow  string
	}{
		{"left the state", []act{at(key1, order.Pay, noon.Add(50*time.Minute))}, "PAYING 2 0/0", `TRUE`, "CANCELLED 3 0/0"},
		{"came back", []act{event(order.Pay, key1), payFailed(key1, "A1", fsm.At(noon.Add(50*time.Minute)))}, "PENDING 3 0/0", `status = 'PENDING'`, "CANCELLED 4 0/0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.again(key1)
			s.must(tc.meanwhile...)
			s.says("", sweep(noon.Add(time.Hour)))
			require.Equal(t, tc.row, s.life(key1).Row)

			s.again(key1)
			read := s.text(`SELECT order_id::text FROM orders WHERE status = 'PENDING' AND deadline_at <= $1`, noon.Add(time.Hour))
			s.must(tc.meanwhile...)
			s.exec(`UPDATE orders SET status = 'CANCELLED', version = version + 1 WHERE order_id = $1 AND `+tc.naive, read)
			require.Equal(t, tc.naiveRow, s.life(key1).Row)
		})
	}
}
