package acceptance

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// full is a coalescer whose one batch goes when it has calls of size rows. Its
// statements are in names when it is closed, and what it is told of in ran.
func (s *shop) full(size int) (c *payments, names *[]string, ran *[]fsm.Coalesced) {
	s.t.Helper()
	names, ran = &[]string{}, &[]fsm.Coalesced{}
	c, err := fsm.NewCoalescer(s.t.Context(), s.pool, func(ctx context.Context, on fsm.DB, items []order.PaymentSucceededItem, options ...fsm.Option) ([]order.BatchResult, error) {
		db := &tracked{DB: on}
		results, err := order.PaymentSucceededBatch(ctx, db, items, options...)
		*names = append(*names, db.names...)
		return results, err
	}, fsm.Coalescing{
		Workers: 1, Size: size, Wait: patience, LockTimeout: 50 * time.Millisecond,
		Ran: func(b fsm.Coalesced) { *ran = append(*ran, b) },
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, c.Close(context.Background())) })
	return c, names, ran
}

// A transaction that holds 40 rows of a thousand costs one wait, however many they
// are, and the others notice nothing else of it.
func TestManyRowsOfACoalescedBatchAreHeld(t *testing.T) {
	t.Parallel()
	const orders, every = 1000, 25
	s := open(t)
	s.insertOrders(1, orders)
	held := s.begin(pgx.TxOptions{})
	for n := every; n <= orders; n += every {
		_, err := held.Exec(t.Context(), `SELECT FROM orders WHERE order_id = $1 FOR NO KEY UPDATE`, string(keyOf(n)))
		require.NoError(t, err)
	}
	c, names, ran := s.full(orders)
	got := make([]answer, orders+1)
	var wg sync.WaitGroup
	for n := 1; n <= orders; n++ {
		wg.Go(func() {
			got[n].told, got[n].err = through(c, paying(keyOf(n), fmt.Sprint("P", n), due))(t.Context(), nil)
		})
	}
	wg.Wait()
	require.NoError(t, held.Rollback(t.Context()))
	for n := 1; n <= orders; n++ {
		if n%every == 0 {
			require.Equal(t, "55P03", sqlState(t, got[n].err))
			require.True(t, fsm.Retryable(got[n].err))
			continue
		}
		require.Equal(t, answer{told: "Applied PAID 2"}, got[n], n)
	}
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, []string{"OrderPaymentSucceededBatch", "OrderHeldRows", "OrderPaymentSucceededBatch"}, *names)
	require.Len(t, *ran, 1)
	require.NoError(t, (*ran)[0].Err, "each call has an answer of its own")
	require.Equal(t, "960 960", s.text(`SELECT concat_ws(' ', (SELECT count(*) FROM orders WHERE status = 'PAID'), (SELECT count(*) FROM order_facts))`))
}

// A row that is not there is no row that somebody holds.
func TestACoalescedRowThatIsNotThereIsNotHeld(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	held := s.hold(key1)
	c, _, _ := s.full(2)
	there := start(t.Context(), s.pool, through(c, paying(key1, "P1", due)))
	nowhere := start(t.Context(), s.pool, through(c, paying(key2, "P2", due)))
	require.Equal(t, "55P03", sqlState(t, finish(t, there).err))
	require.ErrorIs(t, finish(t, nowhere).err, fsm.ErrNotFound)
	require.NoError(t, held.Rollback(t.Context()))
}

// Somebody writes a batch's fact for another row: no row is held, and the item of that
// fact alone fails.
func TestAFactOfACoalescedBatchIsHeld(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3, keyOf(4))
	held := s.begin(pgx.TxOptions{})
	_, err := order.PaymentSucceeded(t.Context(), held, key1, order.PaymentSucceededParams{PaymentNo: "P3", PaidCents: due})
	require.NoError(t, err)
	c, _, _ := s.full(3)
	var done []<-chan answer
	for n := 2; n <= 4; n++ {
		done = append(done, start(t.Context(), s.pool, through(c, paying(keyOf(n), fmt.Sprint("P", n), due))))
	}
	require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done[0]))
	require.Equal(t, "55P03", sqlState(t, finish(t, done[1]).err))
	require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done[2]))
	require.NoError(t, held.Rollback(t.Context()))
}
