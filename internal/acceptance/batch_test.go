package acceptance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// keyOf is the key of the n-th order of a test.
func keyOf(n int) order.Key {
	return order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012x", n))
}

func keysOf(from, to int) []order.Key {
	var keys []order.Key
	for n := from; n <= to; n++ {
		keys = append(keys, keyOf(n))
	}
	return keys
}

// insertOrders makes orders past the calls, which would take long.
func (s *shop) insertOrders(from, to int) {
	s.t.Helper()
	s.exec(`INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
		SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'PENDING', 1, 'c1', 'tea', 1, $1 FROM generate_series($2::int, $3::int) AS n`, due, from, to)
}

// payItems are items of pay for the orders from from to to.
func payItems(from, to int) []order.PayItem {
	var items []order.PayItem
	for _, key := range keysOf(from, to) {
		items = append(items, order.PayItem{Key: key})
	}
	return items
}

// paying is an item of payment_succeeded.
func paying(key order.Key, no string, cents int64) order.PaymentSucceededItem {
	return order.PaymentSucceededItem{Key: key, Params: order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents}}
}

// inShort is what each item was told, its error by its kind.
func inShort(results []order.BatchResult) []string {
	short := make([]string, len(results))
	for i, r := range results {
		short[i] = told(r.Result)
		for _, kind := range []error{fsm.ErrNotFound, fsm.ErrArgument, fsm.ErrContended, fsm.ErrNothingDone, fsm.ErrUnknown} {
			if errors.Is(r.Err, kind) {
				short[i] = kind.Error()
			}
		}
	}
	return short
}

// tracked notes the statements of calls by their names.
type tracked struct {
	fsm.DB
	names []string
	// before runs before the n-th statement, counted from 1.
	before func(n int)
}

func (d *tracked) note(sql string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), " ")
	d.names = append(d.names, name)
	if d.before != nil {
		d.before(len(d.names))
	}
}

func (d *tracked) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	d.note(sql)
	return d.DB.Query(ctx, sql, args...)
}

func (d *tracked) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	d.note(sql)
	return d.DB.Exec(ctx, sql, args...)
}

// trackedTx is tracked for a transaction, which the runtime must know for one.
type trackedTx struct {
	pgx.Tx
	*tracked
}

func (d trackedTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return d.tracked.Query(ctx, sql, args...)
}

func (d trackedTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return d.tracked.Exec(ctx, sql, args...)
}

func (d trackedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return d.Tx.QueryRow(ctx, sql, args...)
}

func (d trackedTx) Begin(ctx context.Context) (pgx.Tx, error) { return d.Tx.Begin(ctx) }

// Every outcome and every error of an item, in one statement.
func TestABatchAnswersEachItem(t *testing.T) {
	t.Parallel()
	s := open(t, keysOf(1, 8)...)
	s.must(event(order.Cancel, keyOf(2)), paid(keyOf(3), "P3", due))
	db := &tracked{DB: s.pool}
	seven := int64(7)
	stale := paying(keyOf(8), "P8", due)
	stale.Version = &seven
	results, err := order.PaymentSucceededBatch(t.Context(), db, []order.PaymentSucceededItem{
		paying(keyOf(1), "P1", due),
		paying(keyOf(2), "P2", due),
		paying(keyOf(3), "P3", due),
		paying(keyOf(4), "P4", 99),
		paying(keyOf(99), "P99", due),
		paying(keyOf(5), "P5", 0),
		paying(keyOf(6), "", due),
		paying(keyOf(7), "P3", due),
		stale,
		paying("no key", "P9", due),
		paying(keyOf(1), "P1", due),
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"Applied PAID 2", "Applied REFUNDING 3", "Replayed PAID 2", "Compensated PENDING 1", "no such row",
		"bad argument", "bad argument", "Mismatched PENDING 1", "Stale PENDING 1", "bad argument", "Replayed PAID 2",
	}, inShort(results))
	require.Equal(t, []string{"OrderPaymentSucceededBatch"}, db.names)
	for key, want := range map[int]life{
		1: {"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"},
		2: {"REFUNDING 3 100/100", "cancel:PENDING>CANCELLED payment_succeeded:CANCELLED>REFUNDING", "P2=Applied", "refund_due"},
		3: {"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P3=Applied", "order_paid"},
		4: {"PENDING 1 0/0", "", "P4=Compensated", "refund_due"},
		5: {Row: "PENDING 1 0/0"}, 7: {Row: "PENDING 1 0/0"}, 8: {Row: "PENDING 1 0/0"},
	} {
		require.Equal(t, want, s.life(keyOf(key)), key)
	}
	require.Equal(t, fsm.Transition[order.State]{Event: "payment_succeeded", Outcome: fsm.Applied, From: order.StatePending, To: order.StatePaid, Version: 2},
		results[10].Result.Transition)
	require.Equal(t, results[0].Result.Row, results[10].Result.Row)
}

// Each statement is one item a row; what repeats needs none.
func TestABatchOfOneRow(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := order.Key(strings.ToUpper("0000abcd-0000-4000-8000-000000000001"))
	same := order.Key("0000abcd000040008000000000000001")
	for _, tc := range []struct {
		name       string
		items      []order.PaymentSucceededItem
		told       []string
		statements int
	}{
		{"a fact told often", slices.Repeat([]order.PaymentSucceededItem{paying(key1, "P1", due)}, 10_000),
			append([]string{"Applied PAID 2"}, slices.Repeat([]string{"Replayed PAID 2"}, 9_999)...), 1},
		{"other facts", []order.PaymentSucceededItem{paying(key1, "P1", due), paying(key1, "P2", due), paying(key1, "P1", due), paying(key1, "P1", 99)},
			[]string{"Applied PAID 2", "Compensated PAID 2", "Replayed PAID 2", "Mismatched PAID 2"}, 3},
		{"one key in two spellings", []order.PaymentSucceededItem{paying(other, "P1", due), paying(same, "P2", due)},
			[]string{"Applied PAID 2", "Compensated PAID 2"}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &shop{t, s.pool}
			s.again(key1, other)
			db := &tracked{DB: s.pool}
			results, err := order.PaymentSucceededBatch(t.Context(), db, tc.items)
			require.NoError(t, err)
			require.Equal(t, tc.told, inShort(results))
			require.Len(t, db.names, tc.statements)
		})
	}

	s.again(key1)
	db := &tracked{DB: s.pool}
	results, err := order.PayBatch(t.Context(), db, slices.Repeat([]order.PayItem{{Key: key1}}, 10_000))
	require.NoError(t, err)
	require.Equal(t, append([]string{"Applied PAYING 2"}, slices.Repeat([]string{"Replayed PAYING 2"}, 9_999)...), inShort(results))
	require.Len(t, db.names, 2, "without a fact the row itself must say that it is done")

	// A self-loop is a new transition each time, and the version says which.
	one, two := int64(2), int64(3)
	results, err = order.QueryPaymentBatch(t.Context(), s.pool, []order.QueryPaymentItem{{Key: key1, Version: &one}, {Key: key1, Version: &two}, {Key: key1, Version: &two}})
	require.NoError(t, err)
	require.Equal(t, []string{"Applied PAYING 3", "Applied PAYING 4", "Stale PAYING 4"}, inShort(results))
}

// One payment number on two orders is the first item's, whatever the keys.
func TestOneFactOnTwoRowsOfABatch(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, keys := range [][2]order.Key{{key1, key2}, {key2, key1}} {
		s.again(key1, key2)
		before := s.text(`SELECT format('%s %s', ctid, o) FROM orders AS o WHERE order_id = $1`, string(keys[1]))
		db := &tracked{DB: s.pool}
		results, err := order.PaymentSucceededBatch(t.Context(), db, []order.PaymentSucceededItem{paying(keys[0], "P1", due), paying(keys[1], "P1", due)})
		require.NoError(t, err)
		require.Equal(t, []string{"Applied PAID 2", "Mismatched PENDING 1"}, inShort(results))
		require.Equal(t, before, s.text(`SELECT format('%s %s', ctid, o) FROM orders AS o WHERE order_id = $1`, string(keys[1])))
		require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(keys[1]))
		require.Len(t, db.names, 2)
	}
}

// What a batch tells of its items, and leaves, is what the calls do one by one.
func TestABatchIsAsTheCallsOneByOne(t *testing.T) {
	t.Parallel()
	s := open(t)
	var items []order.PaymentSucceededItem
	for n := range 60 { // of 10 rows, two of which are not there, with amounts of two kinds
		items = append(items, paying(keyOf(1+n*7%10), fmt.Sprintf("P%d-%d", n*7%10, n*5%4), int64(99+n%3%2)))
	}
	run := func(fire func() []order.BatchResult) (told []string, lives []life) {
		keys := keysOf(1, 8)
		s.again(keys...)
		s.must(event(order.Cancel, keyOf(2)), event(order.Pay, keyOf(3)))
		told = inShort(fire())
		for _, key := range keys {
			lives = append(lives, s.life(key))
		}
		return told, lives
	}
	told, lives := run(func() (results []order.BatchResult) {
		for _, i := range items {
			r, err := order.PaymentSucceeded(t.Context(), s.pool, i.Key, i.Params)
			results = append(results, order.BatchResult{Result: r, Err: err})
		}
		return results
	})
	toldAtOnce, livesAtOnce := run(func() []order.BatchResult {
		results, err := order.PaymentSucceededBatch(t.Context(), s.pool, items)
		require.NoError(t, err)
		return results
	})
	require.Equal(t, told, toldAtOnce)
	require.Equal(t, lives, livesAtOnce)
	for _, outcome := range []string{"Applied REFUNDING 3", "Applied PAID 3", "Compensated", "Replayed", "Mismatched", "no such row"} {
		require.True(t, slices.ContainsFunc(told, func(text string) bool { return strings.HasPrefix(text, outcome) }), outcome)
	}
}

// A payment that another session makes at the same time is told of as it was
// committed, and the others do not wait for it again.
func TestABatchThatWaits(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	held := s.begin(pgx.TxOptions{})
	_, err := paid(key1, "P1", due)(t.Context(), held)
	require.NoError(t, err)
	conn := s.conn()
	db := &tracked{DB: conn}
	var results []order.BatchResult
	done := start(t.Context(), db, func(ctx context.Context, db fsm.DB) (_ string, err error) {
		results, err = order.PaymentSucceededBatch(ctx, db, []order.PaymentSucceededItem{paying(key2, "P2", due), paying(key1, "P1", due)})
		return "", err
	})
	require.NoError(t, s.commitWhenBlocked(held, conn, done).err)
	require.Equal(t, []string{"Applied PAID 2", "Replayed PAID 2"}, inShort(results))
	require.Len(t, db.names, 2)

	// And a row that was changed meanwhile moves from what it has become.
	s.again(key1, key2)
	held = s.begin(pgx.TxOptions{})
	_, err = event(order.Pay, key1)(t.Context(), held)
	require.NoError(t, err)
	db.names = nil
	done = start(t.Context(), db, func(ctx context.Context, db fsm.DB) (_ string, err error) {
		results, err = order.PaymentSucceededBatch(ctx, db, []order.PaymentSucceededItem{paying(key2, "P2", due), paying(key1, "P1", due)})
		return "", err
	})
	require.NoError(t, s.commitWhenBlocked(held, conn, done).err)
	require.Equal(t, []string{"Applied PAID 2", "Applied PAID 3"}, inShort(results))
	require.Equal(t, "pay:PENDING>PAYING payment_succeeded:PAYING>PAID", s.life(key1).History)
	require.Len(t, db.names, 1)
}

// A row that races for ever is contended by itself.
func TestARowThatAPolicyHidesFromABatch(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	s.exec(`GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor`)
	s.exec(`ALTER TABLE orders ENABLE ROW LEVEL SECURITY`)
	s.exec(`CREATE POLICY seen ON orders FOR SELECT USING (true)`)
	s.exec(`CREATE POLICY changed ON orders FOR UPDATE USING (order_id = '` + string(key2) + `')`)
	conn := s.conn()
	_, err := conn.Exec(t.Context(), `SET ROLE pg_monitor`)
	require.NoError(t, err)
	results, err := order.PaymentSucceededBatch(t.Context(), conn, []order.PaymentSucceededItem{paying(key1, "P1", due), paying(key2, "P2", due)})
	require.NoError(t, err)
	require.Equal(t, []string{"row is contended", "Applied PAID 2"}, inShort(results))
}

// refunds are items of refund.
func refunds(cents ...int64) []order.RefundItem {
	var items []order.RefundItem
	for i, c := range cents {
		items = append(items, order.RefundItem{Key: keyOf(i + 1), Params: order.RefundParams{RefundNo: fmt.Sprintf("R%d", i+1), AmountCents: c}})
	}
	return items
}

// A sum that is too large for its type fails in the middle of a statement.
func TestABadItemLeavesTheOthersOfABatch(t *testing.T) {
	t.Parallel()
	keys := keysOf(1, 6)
	s := open(t, keys...)
	for i, key := range keys {
		s.must(paid(key, fmt.Sprint("P", i), due), refund(key, fmt.Sprint("R0", i), 1))
	}
	items := refunds(10, math.MaxInt64, 10, 10, math.MaxInt64, 10)
	items[3].Actor = "a\x00"
	results, err := order.RefundBatch(t.Context(), s.pool, items)
	require.NoError(t, err)
	require.Equal(t, []string{"Applied PAID 4", "nothing was done", "Applied PAID 4", "nothing was done", "nothing was done", "Applied PAID 4"}, inShort(results))
	require.Equal(t, "22003", sqlState(t, results[1].Err))
	require.Equal(t, "22021", sqlState(t, results[3].Err))

	// In a transaction it is as with any statement that fails.
	tx := s.begin(pgx.TxOptions{})
	results, err = order.RefundBatch(t.Context(), tx, refunds(10, math.MaxInt64))
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, "22003", sqlState(t, err))
	require.Equal(t, []string{"nothing was done", "nothing was done"}, inShort(results))
}

func TestABatchInACallersTransaction(t *testing.T) {
	t.Parallel()
	s := open(t)
	items := []order.PaymentSucceededItem{paying(key2, "P2", due), paying(key1, "P1", due), paying(key2, "P3", due)}
	want := []string{"Applied PAID 2", "Applied PAID 2", "Compensated PAID 2"}
	for _, commits := range []bool{true, false} {
		s.again(key1, key2)
		tx := s.begin(pgx.TxOptions{})
		db := trackedTx{tx, &tracked{DB: tx}}
		results, err := order.PaymentSucceededBatch(t.Context(), db, items)
		require.NoError(t, err)
		require.Equal(t, want, inShort(results))
		require.Equal(t, []string{"OrderLockRows", "OrderPaymentSucceededBatch", "OrderPaymentSucceededBatch"}, db.names)
		require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key2), "nobody else sees it yet")
		if !commits {
			require.NoError(t, tx.Rollback(t.Context()))
			require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key2))
			continue
		}
		require.NoError(t, tx.Commit(t.Context()))
		require.Equal(t, life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P2=Applied P3=Compensated", "order_paid refund_due"}, s.life(key2))
	}

	// The transaction of database/sql too.
	s.again(key1, key2)
	sqlTx, err := s.sqlDB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	results, err := order.PaymentSucceededBatch(t.Context(), fsm.SQLTx(sqlTx), items, fsm.At(noon), fsm.Actor("ann"))
	require.NoError(t, err)
	require.Equal(t, want, inShort(results))
	require.NoError(t, sqlTx.Commit())
	require.Equal(t, "PAID 2 100/0", s.life(key2).Row)

	// A snapshot's own.
	s.again(key1, key2)
	tx := s.begin(isolated(pgx.RepeatableRead))
	results, err = order.PaymentSucceededBatch(t.Context(), tx, items)
	require.NoError(t, err)
	require.Equal(t, want, inShort(results))
	require.True(t, results[0].Result.Snapshot)

	_, err = order.PaymentSucceededBatch(t.Context(), s.pool, items, order.Then(takeStock))
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// The session dies in the middle of a batch.
func TestABatchWhoseConnectionIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	conn := s.conn()
	db := &tracked{DB: conn, before: func(n int) {
		if n == 2 {
			s.exec(`SELECT pg_terminate_backend($1)`, int32(pidOf(conn)))
		}
	}}
	items := []order.PaymentSucceededItem{paying(key1, "P1", due), paying(key2, "P2", due), paying(key1, "P3", due), paying(key1, "P4", due)}
	results, err := order.PaymentSucceededBatch(t.Context(), db, items)
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.Equal(t, []string{"Applied PAID 2", "Applied PAID 2", "outcome is unknown", "nothing was done"}, inShort(results))
	require.Equal(t, "P1=Applied", s.life(key1).Facts)

	// The same batch again does nothing twice.
	results, err = order.PaymentSucceededBatch(t.Context(), s.pool, items)
	require.NoError(t, err)
	require.Equal(t, []string{"Replayed PAID 2", "Replayed PAID 2", "Compensated PAID 2", "Compensated PAID 2"}, inShort(results))
}

func TestABatchOfTenThousand(t *testing.T) {
	t.Parallel()
	s := open(t)
	const n = 10_000
	s.insertOrders(1, n)
	var items []order.PaymentSucceededItem
	for i := range n {
		items = append(items, paying(keyOf(n-i), fmt.Sprint("P", i*7919%n), due))
	}
	db := &tracked{DB: s.pool}
	results, err := order.PaymentSucceededBatch(t.Context(), db, items)
	require.NoError(t, err)
	require.Less(t, len(db.names), 20)
	for i, r := range results {
		require.NoError(t, r.Err)
		require.Equal(t, fsm.Applied, r.Result.Outcome)
		require.Equal(t, items[i].Key, r.Result.Row.OrderID)
		require.Equal(t, items[i].Params.PaymentNo, *r.Result.Row.PaymentNo)
	}
	require.Equal(t, "10000 10000 10000 10000", s.text(`SELECT format('%s %s %s %s',
		(SELECT count(*) FROM orders WHERE status = 'PAID' AND version = 2), (SELECT count(*) FROM order_history),
		(SELECT count(*) FROM order_facts), (SELECT count(*) FROM fsm_outbox))`))
}
