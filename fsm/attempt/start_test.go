package attempt_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/internal/testdb"
)

// Of many that start one refund, one does, and all get the same attempt. It
// covers the id that is computed in code, whose loser gets an empty answer, and
// the refund that a fallback starts again.
func TestStartOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const callers = 50
	ids, started := make([]string, callers), make([]bool, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			a, first, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", money{500})
			if err == nil {
				ids[i], started[i] = a.ID, first
			}
		})
	}
	wg.Wait()
	firsts := 0
	for i := range callers {
		require.NotEmpty(t, ids[i])
		require.Equal(t, ids[0], ids[i])
		if started[i] {
			firsts++
		}
	}
	require.Equal(t, 1, firsts)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_attempts`))
	require.Equal(t, "started", b.notices())
}

// What is commonly done instead: look, then insert.
func TestNaiveStartStartsTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE naive (business_key text NOT NULL)`)
	one, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	two, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	for _, tx := range []pgx.Tx{one, two} {
		var there bool
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM naive WHERE business_key = 'r1')`).Scan(&there))
		require.False(t, there)
		_, err := tx.Exec(t.Context(), `INSERT INTO naive VALUES ('r1')`)
		require.NoError(t, err)
	}
	require.NoError(t, one.Commit(t.Context()))
	require.NoError(t, two.Commit(t.Context()))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM naive`))
}

// The second of two transactions waits for the first, and goes by what became of
// it, at every isolation level.
func TestStartInTransactions(t *testing.T) {
	t.Parallel()
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		for _, commits := range []bool{true, false} {
			t.Run(string(level)+map[bool]string{true: ", commits", false: ", rolls back"}[commits], func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				first, err := b.pool.Begin(t.Context())
				require.NoError(t, err)
				a, started, err := attempt.Start(t.Context(), first, b.kind, "r1", money{500})
				require.NoError(t, err)
				require.True(t, started)
				_, err = attempt.Get(t.Context(), b.pool, a.ID)
				require.ErrorIs(t, err, attempt.ErrNotFound, "nobody can drive it before the commit")

				type answer struct {
					id      string
					started bool
					err     error
				}
				answers := make(chan answer, 1)
				second, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
				require.NoError(t, err)
				go func() {
					got, started, err := attempt.Start(t.Context(), second, b.kind, "r1", money{500})
					answers <- answer{got.ID, started, err}
				}()
				b.waitsForLock()
				if commits {
					require.NoError(t, first.Commit(t.Context()))
				} else {
					require.NoError(t, first.Rollback(t.Context()))
				}
				got := <-answers
				switch {
				case !commits:
					require.NoError(t, got.err)
					require.True(t, got.started)
					require.NotEqual(t, a.ID, got.id)
				case level == pgx.ReadCommitted:
					require.NoError(t, got.err)
					require.False(t, got.started)
					require.Equal(t, a.ID, got.id)
				default:
					require.True(t, fsm.Retryable(got.err))
				}
				require.NoError(t, second.Rollback(t.Context()))
			})
		}
	}
}

// waitsForLock returns when a session waits for another's transaction.
func (b *bench) waitsForLock() {
	b.t.Helper()
	for b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		require.NoError(b.t, b.t.Context().Err())
	}
}

func TestStartAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	require.Equal(t, `{"cents":500}`, string(a.Request))
	require.Equal(t, attempt.Started, a.State)
	require.Equal(t, a, b.get(a.ID))

	for name, request := range map[string]any{
		"same": money{500}, "spaced": json.RawMessage(` {"cents" : 500} `), "a map": map[string]int{"cents": 500},
	} {
		again, started, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", request)
		require.NoError(t, err, name)
		require.False(t, started)
		require.Equal(t, a, again)
	}
	other, started, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", money{501})
	require.ErrorIs(t, err, attempt.ErrMismatch)
	require.False(t, started)
	require.Equal(t, a.ID, other.ID)
	require.NotContains(t, err.Error(), "50", "no values in errors")

	payout := *b.kind
	payout.Name = "payout"
	_, started, err = attempt.Start(t.Context(), b.pool, &payout, "r1", money{501})
	require.NoError(t, err)
	require.True(t, started, "another kind's keys are its own")
}

func TestCanonicalRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, _, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", json.RawMessage(`{"b": 1.00, "a": {"z": "\u0000é", "y": 12345678901234567890}}`))
	require.NoError(t, err)
	require.Equal(t, `{"a":{"y":12345678901234567890,"z":"\u0000é"},"b":1.00}`, string(a.Request))
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, key := range []string{"", strings.Repeat("k", 501), strings.Repeat("k", 10_000), "a\x00b", "a\nb", "\xff", "a\u0085b"} {
		_, started, err := attempt.Start(t.Context(), b.pool, b.kind, key, money{500})
		require.ErrorIs(t, err, attempt.ErrArgument)
		require.ErrorIs(t, err, fsm.ErrArgument)
		require.False(t, started)
		require.NotContains(t, err.Error(), "kk")
		_, err = attempt.Find(t.Context(), b.pool, b.kind.Name, key)
		require.ErrorIs(t, err, attempt.ErrArgument)
	}
	for name, request := range map[string]any{
		"no JSON": func() {}, "too much": strings.Repeat("x", attempt.MaxJSON), "broken": json.RawMessage(`{`), "two": json.RawMessage(`1 2`),
	} {
		_, _, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", request)
		require.ErrorIs(t, err, attempt.ErrArgument, name)
	}
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_attempt_keys`))
	_, _, err := attempt.Start(t.Context(), b.pool, b.kind, strings.Repeat("k", 500), nil)
	require.NoError(t, err)
}

func TestFind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := attempt.Find(t.Context(), b.pool, "refund", "r1")
	require.ErrorIs(t, err, attempt.ErrNotFound)
	a := b.start("r1")
	got, err := attempt.Find(t.Context(), b.pool, "refund", "r1")
	require.NoError(t, err)
	require.Equal(t, a, got)
}

func TestTablesAreMissing(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	kind := refundKind("http://127.0.0.1")
	_, _, err := attempt.Start(t.Context(), pool, kind, "r1", nil)
	require.ErrorIs(t, err, attempt.ErrTables)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.ErrorContains(t, err, "fsmgen tables attempt")
	_, err = attempt.Drive(t.Context(), pool, kind, "00000000-0000-4000-8000-000000000000")
	require.ErrorIs(t, err, attempt.ErrTables)
	_, err = (&attempt.Completer{DB: pool, Kinds: []*attempt.Kind{kind}}).Once(t.Context())
	require.ErrorIs(t, err, attempt.ErrTables)
}

// The ends of what the tables allow: no program can write a completed attempt
// without an answer, or one that nobody will ever look at.
func TestTablesRefuse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("r1")
	for _, set := range []string{
		`completed_at = now(), due = NULL`, `due = NULL`, `state = 'SUCCEEDED'`, `answered_at = now()`, `state = 'DONE'`, `leased_until = NULL`,
		`stuck_at = now()`,
	} {
		_, err := b.pool.Exec(context.Background(), `UPDATE fsm_attempts SET `+set)
		require.Error(t, err, set)
	}
}
