package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
)

// lockTimes are the durations of the locks of orders. All are small beside the
// 10 s in which a callback is answered.
type lockTimes struct {
	ttl     time.Duration // how long the lock of a process that died is in the way
	maxHold time.Duration
	wait    time.Duration
	stay    time.Duration // with PostgreSQL, when Redis did not answer
	dial    time.Duration
	call    time.Duration    // of Redis; 0 means lockredis's own bound
	now     func() time.Time // what stay is measured by; nil for the system's clock
}

var usualTimes = lockTimes{
	ttl: 3 * time.Second, maxHold: 15 * time.Second, wait: 2 * time.Second,
	stay: 10 * time.Second, dial: time.Second,
}

// lockConns is how many locks PostgreSQL holds for one process at once, while
// Redis is away. Callbacks beyond these wait, and then go on without.
const lockConns = 8

// openLock returns the locks of orders: in Redis, and in PostgreSQL while that
// is away, at the start too. The connections to PostgreSQL are beside those of
// the service's pool. fellBack is told of each time that Redis was away. stop closes what was opened.
func openLock(ctx context.Context, redisURL string, times lockTimes, pool *pgxpool.Pool, log *slog.Logger, fellBack func(error)) (lock.Locker, func(), error) {
	option, err := rueidis.ParseURL(redisURL)
	if err != nil {
		return nil, nil, errors.New("REDIS_URL cannot be used") // its own error may hold the password
	}
	option.Dialer.Timeout = times.dial
	config := pool.Config()
	config.MaxConns = lockConns
	own, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, nil, err
	}
	inRedis, err := lockredis.Open(option, own, lockredis.Config{TTL: times.ttl, MaxHold: times.maxHold, Wait: times.wait, Call: times.call})
	if err != nil {
		own.Close()
		return nil, nil, err
	}
	stop := func() {
		inRedis.Close()
		own.Close()
	}
	inPostgres, err := lock.NewPostgres(own, lock.Config{MaxHold: times.maxHold, Wait: times.wait})
	if err != nil {
		stop()
		return nil, nil, err
	}
	both, err := lock.Fallback(inRedis, inPostgres, lock.Rule{Stay: times.stay, Now: times.now, Switched: func(err error) {
		fellBack(err)
		log.Warn("Redis has no locks: taking PostgreSQL's", "for", times.stay, "error", err)
	}})
	if err != nil {
		stop()
		return nil, nil, err
	}
	return both, stop, nil
}
