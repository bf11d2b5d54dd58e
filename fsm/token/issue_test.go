package token_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestIssueIsGoodForTheTTL(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tx, err := pool.Begin(t.Context()) // whose now() is before the statement
	require.NoError(t, err)
	_, err = token.Issue(t.Context(), tx, pay, ann, order42)
	require.NoError(t, err)
	var late bool
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT issued_at > now() FROM fsm_token`).Scan(&late))
	require.True(t, late)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM fsm_token WHERE kind = 'pay' AND principal = 'customer:1'
		AND purpose = 'pay order 42' AND expires_at - issued_at = '30 minutes' AND keep = '24 hours' AND sweep_at = expires_at`))
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok, used, bobs := issue(t, pool), issue(t, pool), issue(t, pool)
	_, err := token.Use(t.Context(), pool, used, ann, order42, works("paid"))
	require.NoError(t, err)
	for _, want := range []bool{true, false} {
		done, err := token.Revoke(t.Context(), pool, tok)
		require.NoError(t, err)
		require.Equal(t, want, done)
	}
	_, err = token.Use(t.Context(), pool, tok, ann, order42, never(t))
	require.Equal(t, token.Unknown, reason(t, err))
	done, err := token.Revoke(t.Context(), pool, token.From("x"))
	require.NoError(t, err)
	require.False(t, done)

	n, err := token.RevokeAll(t.Context(), pool, bob)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = token.RevokeAll(t.Context(), pool, ann)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	_, err = token.Use(t.Context(), pool, bobs, ann, order42, never(t))
	require.ErrorIs(t, err, token.ErrInvalid)
	r, err := token.Use(t.Context(), pool, used, ann, order42, never(t))
	require.NoError(t, err)
	require.True(t, r.Replayed)
	_, err = token.RevokeAll(t.Context(), pool, "")
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// A sweep takes what is due: nothing that lives hides it, and none of it stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	pool := open(t)
	for range 5 { // live, and issued first
		issue(t, pool)
	}
	kept := issue(t, pool)
	_, err := token.Use(t.Context(), pool, kept, ann, order42, works("kept"))
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO fsm_token (hash, kind, principal, purpose, expires_at, keep, sweep_at)
		SELECT sha256(n::text::bytea), 'pay', 'x', 'x', now() - interval '1 h', '2 h', now() - interval '1 h' FROM generate_series(1, 7) n`)
	require.NoError(t, err)
	for _, want := range []int{3, 3, 1, 0} {
		n, err := token.Sweep(t.Context(), pool, 3)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.Equal(t, 6, count(t, pool, `SELECT count(*) FROM fsm_token`))
	_, err = token.Sweep(t.Context(), pool, -1)
	require.ErrorIs(t, err, fsm.ErrArgument)
	n, err := token.Sweep(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Zero(t, n)
}

// A token that expires while its business runs is swept by nobody: the use has its
// row, and the row is not due any more when the use has committed.
func TestSweepPassesOverAUse(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	_, err := pool.Exec(t.Context(), `UPDATE fsm_token SET sweep_at = now()`) // as if it had just expired
	require.NoError(t, err)
	r, err := token.Use(t.Context(), pool, tok, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		n, err := token.Sweep(ctx, pool, 0)
		require.NoError(t, err)
		require.Zero(t, n)
		return []byte("paid"), nil
	})
	require.NoError(t, err)
	n, err := token.Sweep(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Zero(t, n)
	again, err := token.Use(t.Context(), pool, tok, ann, order42, never(t))
	require.NoError(t, err)
	require.True(t, r.At.Equal(again.At))
}

func TestMissingTable(t *testing.T) {
	t.Parallel()
	_, err := token.Issue(t.Context(), testdb.New(t), pay, ann, order42)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.ErrorIs(t, err, token.ErrTables)
	require.ErrorContains(t, err, "`fsmgen tables token`")
}
