package attempt_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/internal/testdb"
)

// lossy loses the replies to the COMMITs of the transactions that it begins, of
// which some took effect.
type lossy struct {
	*pgxpool.Pool
	effect bool
}

func (l lossy) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := l.Pool.BeginTx(ctx, options)
	return lossyTx{tx, l.effect}, err
}

type lossyTx struct {
	pgx.Tx
	effect bool
}

func (l lossyTx) Commit(ctx context.Context) error {
	if !l.effect {
		return io.ErrUnexpectedEOF // and the rollback follows
	}
	if err := l.Tx.Commit(ctx); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// The COMMIT of the business change is lost: the round finds out what became of
// it, and the change is made once.
func TestCommitIsLost(t *testing.T) {
	t.Parallel()
	for _, effect := range []bool{true, false} {
		t.Run(map[bool]string{true: "after it took effect", false: "before"}[effect], func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.start("r1")
			got, err := attempt.Drive(t.Context(), lossy{b.pool, effect}, b.kind, a.ID)
			require.Equal(t, effect, got.Completed())
			if effect {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, attempt.ErrUnfinished)
				require.ErrorIs(t, err, fsm.ErrUnknown)
				require.Equal(t, attempt.Succeeded, got.State)
				require.True(t, b.driven(a.ID).Completed())
			}
			require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
			require.Equal(t, "sends 1 queries 0", b.provider.seen())
		})
	}
}

// A claim that was committed although its round was told of an error is nobody's: it
// is given back, and neither waits for the end of its lease nor counts as a round.
// One that was not made, by a caller whose time is over, leaves none either.
func TestClaimThatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err := attempt.Drive(over, b.pool, b.kind, a.ID)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, a, b.get(a.ID))

	_, err = attempt.Drive(t.Context(), testdb.Deaf{Pool: b.pool}, b.kind, a.ID)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Zero(t, b.get(a.ID).Rounds)
	completed, err := b.completer().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, completed)
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
}
