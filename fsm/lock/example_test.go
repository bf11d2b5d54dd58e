package lock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/lock"
)

// wallet is what a payment is judged on.
type wallet struct{ balance, version int64 }

var errTooLittle = errors.New("too little money")

// payFrom takes an amount from a wallet. The UPDATE compares what was judged, and
// the fencing value, and stores that.
func payFrom(ctx context.Context, locker lock.Locker, db fsm.TxBeginner, id, amount int64) (wallet, error) {
	return lock.LockJudgeUpdate(ctx, locker, db, fmt.Sprintf("wallet %d", id),
		func(ctx context.Context, tx pgx.Tx) (w wallet, err error) {
			err = tx.QueryRow(ctx, `SELECT balance, version FROM wallets WHERE id = $1`, id).Scan(&w.balance, &w.version)
			if err == nil && w.balance < amount {
				err = errTooLittle
			}
			return w, err
		},
		func(ctx context.Context, tx pgx.Tx, w wallet, fence int64) (int64, error) {
			tag, err := tx.Exec(ctx, `UPDATE wallets SET balance = balance - $2, version = version + 1, fence = $3
				WHERE id = $1 AND version = $4 AND fence < $3`, id, amount, fence, w.version)
			return tag.RowsAffected(), err
		})
}

func ExampleLockJudgeUpdate() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	locker, err := lock.NewPostgres(pool, lock.Config{Wait: 2 * time.Second, MaxHold: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := payFrom(ctx, locker, pool, 1, 60)
	switch {
	case errors.Is(err, lock.ErrNotAcquired), errors.Is(err, lock.ErrStale), errors.Is(err, lock.ErrLost):
		fmt.Println("try again")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println("before it was", w.balance)
	}
}

// What the example does is right.
func TestExample(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE wallets (id bigint PRIMARY KEY, balance bigint NOT NULL,
		version bigint NOT NULL DEFAULT 1, fence bigint NOT NULL DEFAULT 0); INSERT INTO wallets VALUES (1, 100)`)
	require.NoError(t, err)
	l := postgres(t, pool, lasting)
	w, err := payFrom(t.Context(), l, pool, 1, 60)
	require.NoError(t, err)
	require.Equal(t, wallet{100, 1}, w)
	_, err = payFrom(t.Context(), l, pool, 1, 60)
	require.ErrorIs(t, err, errTooLittle)
	_, err = payFrom(t.Context(), l, pool, 2, 60)
	require.ErrorIs(t, err, pgx.ErrNoRows)
	require.Equal(t, 40, count(t, pool, `SELECT balance FROM wallets WHERE version = 2 AND fence = 1`))
}
