package shop_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLedgerHasEachNumberOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.told("Replayed", paymentOf(orderA, "p-1", 10050))
	b.told("Compensated", paymentOf(orderA, "p-2", 10050))
	require.Equal(t, "payment p-1 10050 Applied, payment p-2 10050 Compensated",
		b.value("SELECT string_agg(concat_ws(' ', kind, number, cents, outcome), ', ' ORDER BY number) FROM shop_ledger"))
}

// Somebody has set an order back by hand and taken its facts away: the machine
// would take the same payment again, and the ledger's key refuses it.
func TestLedgerStandsBehindTheMachine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	forget := func() {
		_, err := b.pool.Exec(t.Context(), `
			ALTER TABLE orders DISABLE TRIGGER USER;
			UPDATE orders SET status = 'PAYING', paid_cents = 0, payment_no = NULL, paid_at = NULL, deadline_at = now() + interval '1 h';
			DELETE FROM order_facts;
			ALTER TABLE orders ENABLE TRIGGER USER;`)
		require.NoError(t, err)
	}
	forget()
	b.told("Mismatched", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "PAYING", b.state(orderA))
	require.Equal(t, "8", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"), "taken once")
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_ledger"))
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_cases WHERE detail LIKE 'the ledger has this number already%'"))
	b.told("Mismatched", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_cases"), "one case, however often it is told")

	// Without the ledgers nobody would notice.
	_, err := b.pool.Exec(t.Context(), "TRUNCATE shop_ledger; TRUNCATE shop_stock_moves; TRUNCATE shop_points")
	require.NoError(t, err)
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "6", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
}

// Somebody has dropped the ledger's key: the machine alone holds.
func TestMachineStandsWithoutTheLedger(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.pool.Exec(t.Context(), `CREATE TABLE other (LIKE shop_ledger INCLUDING DEFAULTS); DROP TABLE shop_ledger; ALTER TABLE other RENAME TO shop_ledger;
		ALTER TABLE shop_ledger ADD CONSTRAINT shop_ledger_pkey UNIQUE (kind, number, at)`)
	require.NoError(t, err)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	outcomes := make([]any, 20)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			r := b.deliver(paymentOf(orderA, "p-1", 10050))
			if r.status == http.StatusOK {
				outcomes[i] = r.body["outcome"]
			}
		})
	}
	wg.Wait()
	applied := 0
	for _, o := range outcomes {
		if o == "Applied" {
			applied++
			continue
		}
		require.Equal(t, "Replayed", o)
	}
	require.Equal(t, 1, applied)
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_ledger"))
	require.Equal(t, "8", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
}
