package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/torture/nemesis"
	"github.com/pawl-go/pawl/migrations"
)

// smallLog is a server whose log is on a small disk, with tables.
func smallLog(t *testing.T) *nemesis.Target {
	t.Helper()
	needsDisk(t)
	folder, err := os.MkdirTemp("/tmp", "pawl-wal-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755)) // the server's account must get in
	disk, err := nemesis.NewDisk(filepath.Join(folder, "wal"), nemesis.WALSize, folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, disk.Close()) })
	server, err := localpg.Start(t.Context(), localpg.Options{WALDir: disk.Folder, Settings: nemesis.WALSettings})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	made := trial{Options: Options{Migrations: migrations.FS, Faults: []string{"wal"}}}
	require.NoError(t, made.fill(t.Context(), &system{url: server.URL}))
	return &nemesis.Target{Server: server, Database: server.URL, WAL: disk}
}

// panicked has the log's disk be full, until the server has panicked.
func panicked(t *testing.T, target *nemesis.Target) nemesis.Mend {
	t.Helper()
	all := slices.Concat(nemesis.Lanes()...)
	i := slices.IndexFunc(all, func(n nemesis.Named) bool { return n.Name == "wal" })
	require.GreaterOrEqual(t, i, 0)
	mend, err := all[i].Nemesis.Strike(t.Context(), target, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	require.NoError(t, target.Server.AwaitEnd(t.Context()))
	return mend
}

// payment is one call, and what came of it.
type payment struct {
	key    order.Key
	result order.Result
	err    error
}

// pay tells of a payment. within is called before the transaction commits.
func pay(ctx context.Context, pool *pgxpool.Pool, key order.Key, within func()) payment {
	r, err := order.PaymentSucceeded(ctx, pool, key, order.PaymentSucceededParams{PaymentNo: string(key), PaidCents: 100},
		order.Then(func(context.Context, pgx.Tx, order.Result) error {
			within()
			return nil
		}))
	return payment{key, r, err}
}

// lost are those of payments whose client was told Applied, and that are not there with
// history and fact. told is how a client reads an answer.
func lost(t *testing.T, pool *pgxpool.Pool, all []payment, told func(payment) bool) (keys []order.Key) {
	t.Helper()
	for _, p := range all {
		var there bool
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT EXISTS (
			SELECT FROM orders AS o JOIN order_history AS h USING (order_id, version) JOIN order_facts AS f USING (order_id, version)
			WHERE o.order_id = $1 AND o.status = 'PAID' AND h.event = 'payment_succeeded' AND f.event = h.event AND f.outcome = 'Applied')`, string(p.key)).Scan(&there))
		if told(p) && !there {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// A server panics while calls are between their statement and their COMMIT. Those that
// were answered before are there, those in between were told that nobody knows, or that
// nothing was done, and each is applied once when it is told again. A client that takes
// a lost connection for Applied has lost them all.
func TestPaymentsOverAPanic(t *testing.T) {
	t.Parallel()
	target := smallLog(t)
	pool, err := pgxpool.New(t.Context(), target.Database+"&pool_max_conns=8")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	const each = 4
	var keys []order.Key
	for n := range 3 * each {
		keys = append(keys, order.Key(fmt.Sprintf("0d000000-0000-4000-8000-%012d", n)))
		r, err := order.Create(t.Context(), pool, order.CreateParams{Key: keys[n], CustomerID: "ann", Sku: "mug", Quantity: 1, TotalCents: 100})
		require.NoError(t, err)
		require.Equal(t, fsm.Applied, r.Outcome)
	}
	before, under, down := keys[:each], keys[each:2*each], keys[2*each:]
	var told []payment
	for _, key := range before {
		told = append(told, pay(t.Context(), pool, key, func() {}))
		require.NoError(t, told[len(told)-1].err)
	}

	begun, goOn, ended := make(chan struct{}, each), make(chan struct{}), make(chan payment, each)
	var callers sync.WaitGroup
	for _, key := range under {
		callers.Go(func() {
			ended <- pay(t.Context(), pool, key, func() {
				begun <- struct{}{}
				<-goOn
			})
		})
	}
	for range under {
		<-begun
	}
	mend := panicked(t, target)
	close(goOn)
	callers.Wait()
	for range under {
		told = append(told, <-ended)
	}
	for _, key := range down {
		told = append(told, pay(t.Context(), pool, key, func() {}))
	}
	for _, p := range told[each:] {
		require.Error(t, p.err)
		require.True(t, errors.Is(p.err, fsm.ErrUnknown) || errors.Is(p.err, fsm.ErrNothingDone), "%v", p.err)
	}
	hits, err := mend(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, hits, "it panicked")
	pool.Reset()

	require.Empty(t, lost(t, pool, told, func(p payment) bool { return p.err == nil }))
	require.ElementsMatch(t, under, lost(t, pool, told[:2*each], func(payment) bool { return true }))
	for _, p := range told {
		again := pay(t.Context(), pool, p.key, func() {})
		require.NoError(t, again.err)
		want := fsm.Applied
		if p.err == nil {
			want = fsm.Replayed
		}
		require.Equal(t, want, again.result.Outcome, p.key)
		require.Equal(t, fsm.Replayed, pay(t.Context(), pool, p.key, func() {}).result.Outcome)
	}
	var entries, facts, messages int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM order_history WHERE event = 'payment_succeeded'),
		(SELECT count(*) FROM order_facts), (SELECT count(*) FROM fsm_outbox WHERE topic = 'order_paid')`).Scan(&entries, &facts, &messages))
	require.Equal(t, []int{len(keys), len(keys), len(keys)}, []int{entries, facts, messages})
}
