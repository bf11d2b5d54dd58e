package shop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/lock"
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
	b.forget()
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
	b.dropLedgerKey()
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	require.Equal(t, map[any]int{"Applied": 1, "Replayed": 19}, b.storm(20, paymentOf(orderA, "p-1", 10050)))
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_ledger"))
	require.Equal(t, "8", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
}

// forget has orders wait for their payment as if nothing had been told, which
// somebody with the rights of the tables' owner can do.
func (b *bench) forget() {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), `
		ALTER TABLE orders DISABLE TRIGGER USER;
		UPDATE orders SET status = 'PAYING', paid_cents = 0, payment_no = NULL, paid_at = NULL, deadline_at = now() + interval '1 h';
		DELETE FROM order_facts;
		ALTER TABLE orders ENABLE TRIGGER USER;`)
	require.NoError(b.t, err)
}

// dropLedgerKey leaves a ledger that takes every number again.
func (b *bench) dropLedgerKey() {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), `
		CREATE TABLE other (LIKE shop_ledger INCLUDING DEFAULTS); INSERT INTO other TABLE shop_ledger; DROP TABLE shop_ledger; ALTER TABLE other RENAME TO shop_ledger;
		ALTER TABLE shop_ledger ADD CONSTRAINT shop_ledger_pkey UNIQUE (kind, number, at)`)
	require.NoError(b.t, err)
}

// Lock, machine and ledger: with any one of them gone, the money of an order that
// was paid, told again by 20 at once, has its effects no second time.
func TestAnyOneOfTheThreeMayFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone   string
		broken func(*bench)
		told   string
	}{
		{gone: "lock", broken: func(*bench) {}, told: "Replayed"},
		{gone: "machine", broken: (*bench).forget, told: "Mismatched"},
		{gone: "ledger", broken: (*bench).dropLedgerKey, told: "Replayed"},
	} {
		t.Run(c.gone, func(t *testing.T) {
			t.Parallel()
			var locks *counting
			with := onPostgres(t, &locks)
			if c.gone == "lock" {
				with = func(config *shop.Config) { config.Lock = &faulty{err: lock.ErrUnavailable} }
			}
			b := newBench(t, with)
			b.paid(orderA, "p-1")
			c.broken(b)
			require.Equal(t, map[any]int{c.told: 20}, b.storm(20, paymentOf(orderA, "p-1", 10050)))
			require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
			require.Equal(t, "1 10050", b.value("SELECT count(*) || ' ' || sum(cents) FROM shop_ledger"))
		})
	}
}

// The lock judges nothing: with it alone, money that is told again counts again.
func TestTheLockAloneIsNotEnough(t *testing.T) {
	t.Parallel()
	var locks *counting
	b := newBench(t, onPostgres(t, &locks))
	b.paid(orderA, "p-1")
	b.forget()
	_, err := b.pool.Exec(t.Context(), "TRUNCATE shop_ledger; TRUNCATE shop_stock_moves; TRUNCATE shop_points")
	require.NoError(t, err)
	require.Equal(t, map[any]int{"Applied": 1, "Replayed": 19}, b.storm(20, paymentOf(orderA, "p-1", 10050)))
	require.Equal(t, "6", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
}
