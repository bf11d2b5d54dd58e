package acceptance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

// fresh makes n orders, and an item each.
func (s *shop) fresh(b *testing.B, n int, made *int) []order.PaymentSucceededItem {
	b.Helper()
	from := *made + 1
	*made += n
	s.insertOrders(from, *made)
	items := make([]order.PaymentSucceededItem, n)
	for i := range items {
		items[i] = paying(keyOf(from+i), fmt.Sprint("P", from+i), due)
	}
	return items
}

// First deliveries, one by one and in batches, on one connection.
func BenchmarkBatches(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000, 2000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, made := open(b), 0
			s.fresh(b, 10_000, &made)
			s.exec("ANALYZE")
			for b.Loop() {
				b.StopTimer()
				items := s.fresh(b, size, &made)
				b.StartTimer()
				if size == 1 {
					_, err := order.PaymentSucceeded(b.Context(), s.pool, items[0].Key, items[0].Params)
					require.NoError(b, err)
					continue
				}
				results, err := order.PaymentSucceededBatch(b.Context(), s.pool, items)
				require.NoError(b, err)
				require.Equal(b, "Applied PAID 2", told(results[size-1].Result))
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// The same fact told again to a batch, which writes nothing.
func BenchmarkBatchesToldAgain(b *testing.B) {
	s, made := open(b), 0
	items := s.fresh(b, 1000, &made)
	for b.Loop() {
		_, err := order.PaymentSucceededBatch(b.Context(), s.pool, items)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(items)*b.N)/b.Elapsed().Seconds(), "items/s")
}
