package trial

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/record"
	"github.com/pawl-go/pawl/gen/order"
)

// recorded is what the generated batch would send for orders, as text: its
// statement as a PREPARE, and an EXECUTE for each batch.
func recorded(ctx context.Context, orders []contender.Delivery) (prepare string, executes []string) {
	for ; len(orders) > 0; orders = orders[min(contender.BatchSize, len(orders)):] {
		var items []order.PaymentSucceededItem
		for _, d := range orders[:min(contender.BatchSize, len(orders))] {
			items = append(items, order.PaymentSucceededItem{
				Key: order.Key(d.Key), Params: order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents},
			})
		}
		seen := &record.DB{}
		_, _ = order.PaymentSucceededBatch(ctx, seen, items) // the recorder's own error
		prepare = "PREPARE batch AS " + seen.SQL
		values := make([]string, len(seen.Args))
		for i, arg := range seen.Args {
			values[i] = literal(arg)
		}
		executes = append(executes, "EXECUTE batch ("+strings.Join(values, ", ")+")")
	}
	return prepare, executes
}

// literal writes an argument of the generated statement.
func literal(arg any) string {
	switch a := arg.(type) {
	case []int32:
		return array(a)
	case []int64:
		return array(a)
	case []bool:
		return array(a)
	case []string:
		quoted := make([]string, len(a))
		for i, s := range a {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `''`).Replace(s) + `"`
		}
		return array(quoted)
	}
	return "NULL" // the clock, which nobody sets
}

func array[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return "'{" + strings.Join(texts, ",") + "}'"
}
