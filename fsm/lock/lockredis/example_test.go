package lockredis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	redis := rueidis.ClientOption{InitAddress: []string{os.Getenv("REDIS")}} // which may be away
	inRedis, err := lockredis.Open(redis, pool, lockredis.Config{TTL: 10 * time.Second, MaxHold: 5 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer inRedis.Close()
	inPostgres, err := lock.NewPostgres(pool, lock.Config{MaxHold: 5 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	locker, err := lock.Fallback(inRedis, inPostgres, lock.Rule{Stay: 30 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}

	err = locker.With(ctx, "nightly report", func(ctx context.Context, held lock.Held) error {
		// Work that ends when ctx does, and writes with held.Fence().
		_, err := pool.Exec(ctx, `UPDATE reports SET made = now(), fence = $1 WHERE day = current_date AND fence < $1`, held.Fence())
		return err
	})
	switch {
	case errors.Is(err, lock.ErrNotAcquired):
		fmt.Println("another process is at it")
	case errors.Is(err, lock.ErrLost):
		fmt.Println("stopped, since another process may be at it:", err)
	case err != nil:
		fmt.Println(err)
	}
}
