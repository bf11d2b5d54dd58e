package tokenredis

import (
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// A token is one hash: kind, principal, purpose and keep as issued; owner and
// lease, the time in milliseconds when it ends, while it is reserved; used, the
// time of the use in PostgreSQL, afterwards. The key goes when the token expires.
// Times are Redis's own. Scripts answer a list of texts. To run one twice is as to run
// it once, so a connection that turns out to be broken is no failure.
var (
	issueScript = rueidis.NewLuaScriptRetryable(`
redis.call('HSET', KEYS[1], 'kind', ARGV[1], 'principal', ARGV[2], 'purpose', ARGV[3], 'keep', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {'1'}`)

	// What is wrong is answered before anything is changed, so that somebody
	// else's attempts are in nobody's way.
	reserveScript = rueidis.NewLuaScriptRetryable(`
local t = redis.call('HMGET', KEYS[1], 'kind', 'principal', 'purpose', 'keep', 'used', 'owner', 'lease')
if not t[1] then return {'missing'} end
if t[2] ~= ARGV[3] then return {'principal'} end
if t[3] ~= ARGV[4] then return {'purpose'} end
if t[5] then return {'used', t[5]} end
local left = tostring(redis.call('PTTL', KEYS[1]))
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
if t[6] and t[6] ~= ARGV[1] and tonumber(t[7]) > now then return {'held', t[1], t[4], left} end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'lease', string.format('%.0f', now + tonumber(ARGV[2])))
return {'reserved', t[1], t[4], left}`)

	// A token that was used is used whoever has reserved it since.
	consumeScript = rueidis.NewLuaScriptRetryable(`
if redis.call('EXISTS', KEYS[1]) == 0 then return {'0'} end
redis.call('HSET', KEYS[1], 'used', ARGV[1])
redis.call('HDEL', KEYS[1], 'owner', 'lease')
return {'1'}`)

	// A release that comes after the lease finds another owner, and lets it be.
	releaseScript = rueidis.NewLuaScriptRetryable(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return {'0'} end
redis.call('HDEL', KEYS[1], 'owner', 'lease')
return {'1'}`)

	// What is asked before a token is revoked; a lease that is over says nothing.
	lookScript = rueidis.NewLuaScriptRetryable(`
local t = redis.call('HMGET', KEYS[1], 'kind', 'keep', 'principal', 'purpose', 'used', 'lease')
if not t[1] then return {'missing'} end
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
if t[5] or (t[6] and tonumber(t[6]) > now) then return {'used'} end
return {'free', t[1], t[2], tostring(redis.call('PTTL', KEYS[1])), t[3], t[4]}`)

	forgetScript = rueidis.NewLuaScriptRetryable(`return {tostring(redis.call('DEL', KEYS[1]))}`)
)

// millis is a duration for a script.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// duration is one from a script; a text that is none is 0, a duration that is over.
func duration(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
