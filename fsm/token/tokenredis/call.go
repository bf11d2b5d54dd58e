package tokenredis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// errDown says that Redis failed, or failed just now and was not asked.
var errDown = errors.New("no use of Redis now")

// call runs a script on one key and returns its answer, of one text at least.
// Whatever Redis answers instead, nothing at all included, is errDown; the error
// is ctx's when that ended.
func (s *Store) call(ctx context.Context, script *rueidis.Lua, key string, args ...string) ([]string, error) {
	if !s.circuit.enter() {
		return nil, errDown
	}
	bounded, cancel := context.WithTimeout(ctx, s.config.Call)
	defer cancel()
	answer, err := s.ask(bounded, script, key, args)
	if err == nil && len(answer) == 0 {
		err = errors.New("no answer")
	}
	switch {
	case err == nil:
		s.circuit.up()
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	s.circuit.fail()
	err = fmt.Errorf("%w: %w", errDown, err)
	if s.config.Failed != nil {
		s.config.Failed(err)
	}
	return nil, err
}

func (s *Store) ask(ctx context.Context, script *rueidis.Lua, key string, args []string) ([]string, error) {
	client, err := s.conn.Client(ctx)
	if err != nil {
		return nil, err
	}
	return script.Exec(ctx, client, []string{key}, args).AsStrSlice()
}

// circuit keeps callers from Redis for a while after it failed, so that each call
// does not pay the bound again. When the while is over one caller tries, and the
// others wait for how that went.
type circuit struct {
	stay  time.Duration
	now   func() time.Time
	mu    sync.Mutex
	until time.Time // zero while Redis is up
}

// enter reports whether to ask Redis.
func (c *circuit) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until.IsZero() {
		return true
	}
	now := c.now()
	if now.Before(c.until) {
		return false
	}
	c.until = now.Add(c.stay) // for the others, until this one knows
	return true
}

func (c *circuit) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = c.now().Add(c.stay)
}

func (c *circuit) up() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Time{}
}
