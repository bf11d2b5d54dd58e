package testredis

import (
	"context"

	"github.com/redis/rueidis"
)

// Leaving is a client whose caller goes away while a command is on its way: Redis
// does it, and nobody hears of it.
type Leaving struct {
	rueidis.Client
	// Caller is the caller's context, which Leave ends.
	Caller context.Context
	Leave  context.CancelFunc
}

// Do sends the command to the end, has the caller leave, and returns what it hears
// then. A command that Redis does not do, for its script is not there yet, say, and
// those of a caller who has left are done as usual.
func (l Leaving) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	result := l.Client.Do(context.WithoutCancel(ctx), cmd)
	if l.Caller.Err() != nil || result.Error() != nil {
		return result
	}
	l.Leave()
	return l.Client.Do(l.Caller, l.B().Ping().Build()) // an error: the caller has left
}
