package grants

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// What the functions cost beside statements: first deliveries and duplicates, on one
// connection each, in turns of 200 calls, so that both have the same machine.
func BenchmarkFunctions(b *testing.B) {
	s := open(b, functions)
	made := 0
	plain, through := fsm.DB(s.pool), s.through(s.as("app"))
	const turn = 200
	var first, again [2]time.Duration
	for b.Loop() {
		keys := make([]order.Key, 2*turn)
		for i := range keys {
			made++
			keys[i] = order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012x", made))
			_, err := order.Create(b.Context(), plain, newOrder(keys[i]))
			require.NoError(b, err)
		}
		for way, on := range []fsm.DB{plain, through} {
			mine := keys[way*turn : (way+1)*turn]
			for _, total := range []*time.Duration{&first[way], &again[way]} {
				began := time.Now()
				for _, k := range mine {
					_, err := order.PaymentSucceeded(b.Context(), on, k, order.PaymentSucceededParams{PaymentNo: string(k), PaidCents: due})
					require.NoError(b, err)
				}
				*total += time.Since(began)
			}
		}
	}
	b.ReportMetric(first[1].Seconds()/first[0].Seconds(), "first-ratio")
	b.ReportMetric(again[1].Seconds()/again[0].Seconds(), "again-ratio")
	b.ReportMetric(float64(first[0].Microseconds())/float64(b.N*turn), "first-µs")
	b.ReportMetric(float64(again[0].Microseconds())/float64(b.N*turn), "again-µs")
}
