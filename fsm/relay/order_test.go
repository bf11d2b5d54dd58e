package relay_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// Serial numbers are committed out of order, and a reader that remembers the
// greatest one skips rows. A hundred events of one order and those of others,
// whose transactions are committed in reverse, with two relays at work.
func TestTransactionsAreCommittedOutOfOrder(t *testing.T) {
	t.Parallel()
	const events, others = 100, 10
	pool := open(t)
	b := &broker{}
	for range 2 {
		running(t, &relay.Relay{DB: pool, Publisher: b, Batch: 7})
	}
	want := map[string][]int64{"one": upTo(events)}
	for round := range events / others {
		var txs []pgx.Tx
		for i := range others {
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			key := fmt.Sprintf("other %d", i)
			emit(t, tx, key, round+1)
			want[key] = upTo(round + 1)
			txs = append(txs, tx)
		}
		for i := range others {
			emit(t, pool, "one", round*others+i+1) // its id is greater than all of the open ones
			require.NoError(t, txs[others-1-i].Commit(t.Context()), "and theirs come later")
		}
	}
	untilEmpty(t, pool)
	for key, versions := range want {
		require.Equal(t, versions, b.told(key), key)
	}
	require.Equal(t, events+events, count(t, pool, "fsm_outbox_sent"))
	require.Len(t, b.all(), events+events, "nothing twice")
}

// The reader that others had: it remembers the greatest id, and never sees the
// row whose transaction was committed later.
func TestACursorSkipsWhatIsCommittedLate(t *testing.T) {
	t.Parallel()
	pool := open(t)
	late, err := pool.Begin(t.Context())
	require.NoError(t, err)
	emit(t, late, "late", 1)
	emit(t, pool, "early", 1)

	cursor := int64(0)
	naive := func() (keys []string) {
		rows, err := pool.Query(t.Context(), `SELECT id, key FROM fsm_outbox WHERE id > $1 ORDER BY id`, cursor)
		require.NoError(t, err)
		var key string
		_, err = pgx.ForEachRow(rows, []any{&cursor, &key}, func() error { keys = append(keys, key); return nil })
		require.NoError(t, err)
		return keys
	}
	require.Equal(t, []string{"early"}, naive())
	b := &broker{}
	r := &relay.Relay{DB: pool, Publisher: b}
	require.Equal(t, 1, once(t, r))

	require.NoError(t, late.Commit(t.Context()))
	require.Empty(t, naive(), "it is behind the cursor for ever")
	require.Equal(t, 1, once(t, r))
	require.Equal(t, []string{"early 1", "late 1"}, b.all())
}

// While one relay sends the first message of a key, no other sends the second;
// all other keys go on.
func TestOneRelayAtAKey(t *testing.T) {
	t.Parallel()
	pool := emitted(t, 3, "a", "b", "c")
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := &broker{judge: func(_ context.Context, m relay.Message) error {
		if m.Version == 1 {
			close(entered)
			<-leave
		}
		return nil
	}}
	done := make(chan int, 1)
	go func() {
		n, _ := (&relay.Relay{DB: pool, Publisher: slow, Batch: 1}).Once(t.Context())
		done <- n
	}()
	receive(t, entered)

	naive, err := pool.Begin(t.Context())
	require.NoError(t, err)
	var key string
	var version int
	require.NoError(t, naive.QueryRow(t.Context(), `SELECT key, version FROM fsm_outbox WHERE key = 'a' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&key, &version))
	require.Equal(t, "a 2", fmt.Sprint(key, " ", version), "rows locked one by one are overtaken")
	require.NoError(t, naive.Rollback(t.Context()))

	other := &broker{}
	require.Equal(t, 6, once(t, &relay.Relay{DB: pool, Publisher: other, Batch: 2, Parallel: 1})+once(t, &relay.Relay{DB: pool, Publisher: other, Parallel: 1}))
	require.Equal(t, []string{"b 1", "c 1", "b 2", "b 3", "c 2", "c 3"}, other.all())
	close(leave)
	require.Equal(t, 1, receive(t, done))
	require.Equal(t, 2, once(t, &relay.Relay{DB: pool, Publisher: other}))
	require.Equal(t, []int64{2, 3}, other.told("a"))
}

// Whatever is refused, and however often, each key's messages arrive once and in
// order, with several relays that take little at a time.
func TestOrderHoldsOverFailures(t *testing.T) {
	t.Parallel()
	const keys, events = 12, 25
	pool := open(t)
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(7, 11))
	b := &broker{judge: func(context.Context, relay.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if dice.IntN(4) == 0 {
			return errRefused
		}
		return nil
	}}
	for i := range 3 {
		running(t, &relay.Relay{DB: pool, Publisher: b, Batch: 3 + 4*i, Parallel: 2, Backoff: again, Every: 1})
	}
	for v := range events {
		for k := range keys {
			emit(t, pool, fmt.Sprint("key ", k), v+1)
		}
	}
	untilEmpty(t, pool)
	for k := range keys {
		require.Equal(t, upTo(events), b.told(fmt.Sprint("key ", k)))
	}
	until(t, pool, `SELECT NOT EXISTS (SELECT FROM fsm_outbox_holds)`)
}
