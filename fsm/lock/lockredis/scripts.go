package lockredis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/lock"
)

// A lock is a key whose value is its owner. All times are durations, so no clock
// but Redis's own decides when a key is over. Who acquires or renews twice has it
// once, so a connection that turns out to be broken is no failure there; a second
// release would say that the lock was lost.
var (
	acquireScript = rueidis.NewLuaScriptRetryable(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

	renewScript = rueidis.NewLuaScriptRetryable(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

	releaseScript      = rueidis.NewLuaScript(releaseText)
	releaseAgainScript = rueidis.NewLuaScriptRetryable(releaseText)

	leftScript  = rueidis.NewLuaScriptRetryable(`return redis.call('PTTL', KEYS[1])`)
	breakScript = rueidis.NewLuaScript(`return redis.call('DEL', KEYS[1])`)
)

const releaseText = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

// call runs a script that answers a number, within the bound. The error is
// lock.ErrUnavailable, or ctx's when that ended.
func (l *Locker) call(ctx context.Context, script *rueidis.Lua, key string, args ...string) (int64, error) {
	bounded, cancel := context.WithTimeout(ctx, l.config.Call)
	defer cancel()
	n, err := l.ask(bounded, script, key, args)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return 0, fmt.Errorf("%w: Redis: %w", lock.ErrUnavailable, err)
}

func (l *Locker) ask(ctx context.Context, script *rueidis.Lua, key string, args []string) (int64, error) {
	client, err := l.conn.Client(ctx)
	if err != nil {
		return 0, err
	}
	return script.Exec(ctx, client, []string{key}, args).AsInt64()
}

// millis is a duration for a script, in whole milliseconds, rounded up: Redis must
// not count less than the holder does.
func millis(d time.Duration) string {
	return strconv.FormatInt((d + time.Millisecond - 1).Milliseconds(), 10)
}
