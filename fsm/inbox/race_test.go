package inbox_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

const storeRaw = `INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, due_at, gives_up_at)
VALUES ('stripe', $1, 'paid', $3, $4, $5, $2, 'received', now() + interval '1 minute', now() + interval '1 day')
ON CONFLICT DO NOTHING`

// whileWaiting has a transaction store the event, starts call, and once that waits
// does the rest, and commits.
func (b *bench) whileWaiting(id string, call func(), meanwhile ...func()) {
	b.t.Helper()
	ctx := b.t.Context()
	tx, err := b.pool.Begin(ctx)
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var delivery int64
	require.NoError(b.t, tx.QueryRow(ctx, `INSERT INTO fsm_deliveries (provider, message_id, digest) VALUES ('stripe', '', '') RETURNING id`).Scan(&delivery))
	said := []any{"p1", "paid", "4200"}
	if strings.Contains(id, ":") {
		said = []any{"", "", ""}
	}
	_, err = tx.Exec(ctx, storeRaw, append([]any{id, delivery}, said...)...)
	require.NoError(b.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	b.awaitWaiter(done)
	for _, m := range meanwhile {
		m()
	}
	require.NoError(b.t, tx.Commit(ctx))
	<-done
}

// awaitWaiter returns when a session of this database waits for a lock.
func (b *bench) awaitWaiter(done <-chan struct{}) {
	b.t.Helper()
	b.awaitWaiters(1, done)
}

// awaitWaiters returns when n sessions of this database wait for locks.
func (b *bench) awaitWaiters(n int, done <-chan struct{}) {
	b.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			require.FailNow(b.t, "it did not wait")
		case <-tick.C:
		}
		if b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n {
			return
		}
	}
}

// The loser of two inserts gets no row from ON CONFLICT DO NOTHING; the winner's
// is found by a later statement. One statement for both finds nothing.
func TestLoserFindsTheWinner(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"by event": "evt_1", "by change": "evt_other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).withOrder()
			b.whileWaiting(id, func() {
				require.Equal(t, inbox.VerdictRunning, b.deliver(told("evt_1", "paid", "p1", total)).Verdict)
			})
			require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_inbox`))
			b.requireOrder(order.StatePaying, "order_paid", 0)
		})
	}
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		found := -1
		b.whileWaiting("evt_1", func() {
			found = b.count(`WITH stored AS (
				INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, due_at, gives_up_at)
				VALUES ('stripe', 'evt_1', '', '', '', '', 0, 'received', now(), now()) ON CONFLICT DO NOTHING RETURNING id)
				SELECT count(*) FROM (SELECT id FROM stored UNION ALL SELECT i.id FROM fsm_inbox i WHERE i.event_id = 'evt_1') f`)
		})
		require.Zero(t, found, "the winner's row is not in the statement's snapshot")
	})
}

// Deliveries of the same items in another order take them in one order, so that
// none waits for another in a circle: while this one waits for its second item,
// which sorts first, it has not touched the other.
func TestItemsInOneOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) {
		c.Providers = []inbox.Provider{adyenScheme(t).provider(func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) {
			return fsm.Applied, nil
		})}
		c.Providers[0].Name, c.Providers[0].Change = "stripe", func(inbox.Event) (string, string, string) { return "", "", "" }
	})
	s, err := webhook.NewAdyenSigner(webhook.NewSecret("DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00"))
	require.NoError(t, err)
	body, err := s.Sign(webhook.AdyenItem{PSPReference: "z", EventCode: "CAPTURE"}, webhook.AdyenItem{PSPReference: "a", EventCode: "CAPTURE"})
	require.NoError(t, err)
	b.whileWaiting("a:CAPTURE:false", func() {
		r, err := b.Receive(t.Context(), "stripe", nil, body)
		require.NoError(t, err)
		require.Equal(t, []string{"z:CAPTURE:false", "a:CAPTURE:false"}, []string{r.Told[0].ID, r.Told[1].ID})
		require.Equal(t, inbox.VerdictRunning, r.Told[0].Verdict, "another stored it meanwhile")
	}, func() {
		b.exec(`INSERT INTO fsm_deliveries (provider, message_id, digest) VALUES ('stripe', '', '')`)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		_, err = tx.Exec(t.Context(), `SET LOCAL lock_timeout = '2s'`)
		require.NoError(t, err)
		tag, err := tx.Exec(t.Context(), storeRaw, "z:CAPTURE:false", b.count(`SELECT max(id) FROM fsm_deliveries`), "", "", "")
		require.NoError(t, err, "it holds the item that sorts last")
		require.Equal(t, int64(1), tag.RowsAffected())
		require.NoError(t, tx.Commit(t.Context()))
	})
}

// lossy loses the reply to the nth COMMIT.
type lossy struct {
	*pgxpool.Pool
	left atomic.Int64
}

func (l *lossy) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := l.Pool.BeginTx(ctx, options)
	return lossyTx{tx, l}, err
}

type lossyTx struct {
	pgx.Tx
	of *lossy
}

func (t lossyTx) Commit(ctx context.Context) error {
	if err := t.Tx.Commit(ctx); err != nil {
		return err
	}
	if t.of.left.Add(-1) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// A COMMIT that was lost on its way, in each of the three transactions: nothing is
// done twice, and what the provider is told is safe.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit int64
		status int
		again  inbox.Verdict
	}{
		"receive": {1, 503, inbox.VerdictDone},
		"process": {2, 200, inbox.VerdictDuplicate},
		"record":  {3, 503, inbox.VerdictDuplicate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).withOrder()
			pool := &lossy{Pool: b.pool}
			pool.left.Store(c.commit)
			config := b.Config
			config.Pool = pool
			var err error
			b.Inbox, err = inbox.New(config)
			require.NoError(t, err)
			n := told("evt_1", "paid", "p1", total)
			r, err := b.Receive(t.Context(), "stripe", b.signed(n.body()), n.body())
			require.Equal(t, c.status, r.Answer.Status)
			if c.status == 200 {
				require.NoError(t, err)
				require.Equal(t, inbox.VerdictDone, r.Told[0].Verdict, "what is true, not what was heard")
				require.Equal(t, fsm.Applied, r.Told[0].Outcome)
			} else {
				require.ErrorIs(t, err, fsm.ErrUnknown)
			}
			b.later()
			require.Equal(t, c.again, b.deliver(n).Verdict)
			require.Zero(t, b.retry())
			b.requireOrder(order.StatePaid, "order_paid", 1)
			require.Len(t, b.list(inbox.Done), 1)
		})
	}
}

// Under another default of the server, the inbox still sees what others committed,
// and so does the handler.
func TestIsolation(t *testing.T) {
	t.Parallel()
	var level string
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, _ inbox.Event) (fsm.Outcome, error) {
		return fsm.Applied, tx.QueryRow(ctx, `SELECT current_setting('transaction_isolation')`).Scan(&level)
	}))
	b.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''serializable''', current_database()); END $$`)
	b.pool.Reset()
	require.Equal(t, 1, b.count(`SELECT count(*) WHERE current_setting('transaction_isolation') = 'serializable'`))
	b.whileWaiting("evt_1", func() {
		require.Equal(t, inbox.VerdictRunning, b.deliver(told("evt_1", "paid", "p1", total)).Verdict)
	})
	b.later()
	require.Equal(t, inbox.VerdictDone, b.deliver(told("evt_1", "paid", "p1", total)).Verdict)
	require.Equal(t, "read committed", level)
}
