// Package consumeredis keeps the keys that consumers are done with in Redis, so
// that duplicates do not reach the database.
//
// It is speed and nothing else. A key is written only after the commit that made it
// done, and Redis claims nothing: what it does not know, has lost or cannot answer in
// time is asked of PostgreSQL. Only an entry that says exactly what the front wrote
// for that key counts; anything else under its name is as if it was not there.
//
// An entry may outlive the row that it stands for. Where a database is set back to
// an earlier time, from a backup say, empty its entries, or take another Prefix.
//
// It satisfies consume.Front.
package consumeredis

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/internal/redisconn"
)

// ErrOption: an option of New is impossible.
var ErrOption = errors.New("bad option of the front in Redis")

// Options say how the front works. The zero value is usable.
type Options struct {
	// TTL is how long a key is remembered; 0 means an hour. Shorter than the
	// sweep's retention it costs a question to the database, longer it may remember
	// what the sweep has forgotten.
	TTL time.Duration
	// Timeout bounds what one call waits for Redis; 0 means 100 ms.
	Timeout time.Duration
	// Pause is how long Redis is not asked after it has failed; 0 means a second.
	Pause time.Duration
	// Prefix begins every key in Redis; empty means "consume:".
	Prefix string
	// Now is the clock of the pause; nil means time.Now.
	Now func() time.Time
}

// Front remembers keys in Redis. It is safe for concurrent use.
type Front struct {
	link    *link
	options Options
	counts  struct{ hits, misses, failures, skipped atomic.Int64 }
}

// Counts is what a front has done so far.
type Counts struct {
	// Hits and Misses are keys that Redis knew and did not.
	Hits, Misses int64
	// Failures are calls that Redis did not answer well, or in time.
	Failures int64
	// Skipped are calls that were not made since Redis had failed a moment ago.
	Skipped int64
}

// New returns a front that connects when it is first asked, and again after Redis
// was away: so a service starts, and goes on, without Redis. The client options'
// cache and retries are switched off. Negative durations are ErrOption.
func New(client rueidis.ClientOption, o Options) (*Front, error) {
	if o.TTL < 0 || o.Timeout < 0 || o.Pause < 0 || o.TTL > 0 && o.TTL < time.Millisecond {
		return nil, fmt.Errorf("%w: a duration is negative, or the TTL under 1 ms", ErrOption)
	}
	o.TTL = cmp.Or(o.TTL, time.Hour)
	o.Timeout = cmp.Or(o.Timeout, 100*time.Millisecond)
	o.Pause = cmp.Or(o.Pause, time.Second)
	o.Prefix = cmp.Or(o.Prefix, "consume:")
	if o.Now == nil {
		o.Now = time.Now
	}
	client.DisableRetry = true
	return &Front{link: &link{conn: redisconn.To(client), pause: o.Pause, now: o.Now}, options: o}, nil
}

// Close closes the connection. What the front is asked afterwards it does not know.
func (f *Front) Close() { f.link.close() }

// Counts returns the counts so far.
func (f *Front) Counts() Counts {
	return Counts{f.counts.hits.Load(), f.counts.misses.Load(), f.counts.failures.Load(), f.counts.skipped.Load()}
}

// Known returns those of the keys that Redis remembers: none when it does not answer
// within Timeout, or has failed within Pause.
func (f *Front) Known(ctx context.Context, consumer string, keys []string) []string {
	var known []string
	f.call(ctx, func(ctx context.Context, client rueidis.Client) error {
		commands := make([]rueidis.Completed, len(keys))
		for i, key := range keys {
			commands[i] = client.B().Get().Key(f.entry(consumer, key)).Build()
		}
		for i, answer := range client.DoMulti(ctx, commands...) {
			switch text, err := answer.ToString(); {
			case err == nil && text == mark(consumer, keys[i]):
				known = append(known, keys[i])
			case err != nil && unanswered(err):
				return err
			}
		}
		f.counts.hits.Add(int64(len(known)))
		f.counts.misses.Add(int64(len(keys) - len(known)))
		return nil
	})
	return known
}

// Remember writes the keys, for TTL. Where Redis does not take them, duplicates are
// found in the database.
func (f *Front) Remember(ctx context.Context, consumer string, keys []string) {
	f.call(ctx, func(ctx context.Context, client rueidis.Client) error {
		commands := make([]rueidis.Completed, len(keys))
		for i, key := range keys {
			commands[i] = client.B().Set().Key(f.entry(consumer, key)).Value(mark(consumer, key)).Px(f.options.TTL).Build()
		}
		for _, answer := range client.DoMulti(ctx, commands...) {
			if err := answer.Error(); err != nil {
				return err
			}
		}
		return nil
	})
}

// call makes a call to Redis, if one is to be made now, and judges its error.
func (f *Front) call(ctx context.Context, do func(context.Context, rueidis.Client) error) {
	if !f.link.enter() {
		f.counts.skipped.Add(1)
		return
	}
	bounded, cancel := context.WithTimeout(ctx, f.options.Timeout)
	defer cancel()
	client, err := f.link.conn.Client(bounded)
	if err == nil {
		err = do(bounded, client)
	}
	switch {
	case err == nil:
		f.link.answered()
	case ctx.Err() != nil:
		f.link.left() // the caller did not wait, which says nothing of Redis
	default:
		f.counts.failures.Add(1)
		f.link.failed()
	}
}

// unanswered reports whether an error says that Redis is not well, rather than that
// there is no entry, or one of another type.
func unanswered(err error) bool {
	if rueidis.IsRedisNil(err) || rueidis.IsParseErr(err) {
		return false
	}
	answer, ok := rueidis.IsRedisErr(err)
	return !ok || !wrongType(answer)
}

// entry is the name of a key in Redis: that of the consumer cannot run into that of
// the key.
func (f *Front) entry(consumer, key string) string {
	return f.options.Prefix + strconv.Itoa(len(consumer)) + ":" + consumer + ":" + key
}

// mark is what an entry holds: it is of its key alone.
func mark(consumer, key string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(consumer)) + ":" + consumer + ":" + key))
	return "done " + hex.EncodeToString(sum[:12])
}
