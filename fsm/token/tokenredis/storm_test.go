package tokenredis_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
)

// Three clients send each of many tokens until they have a reply, through two
// processes, while Redis is killed, started, and stopped. Each token has one
// effect, all its clients get one reply, and none is lost.
func TestRedisDiesUnderLoad(t *testing.T) {
	t.Parallel()
	s := open(t, lasting)
	const tokens, clients = 60, 3
	c := tokenredis.Config{Lease: time.Second, Call: 300 * time.Millisecond, Down: 100 * time.Millisecond}
	stores := []*tokenredis.Store{s.store(c), s.store(c)}
	var replies, unavailable, slowest atomic.Int64
	send := func(store *tokenredis.Store, tok token.Token) string {
		for {
			began := time.Now()
			r, err := store.Use(t.Context(), tok, ann, order42, numbered)
			slowest.Store(max(slowest.Load(), int64(time.Since(began)))) // roughly
			switch {
			case err == nil:
				replies.Add(1)
				return string(r.Reply)
			case errors.Is(err, tokenredis.ErrUnavailable):
				unavailable.Add(1)
			default:
				t.Error(err)
				return ""
			}
		}
	}
	all := make([]token.Token, tokens)
	for i := range all {
		all[i] = s.issue()
	}
	got := make([][clients]string, tokens)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 { // tokens at a time
		wg.Go(func() {
			for i := range next {
				var one sync.WaitGroup
				for j := range clients {
					one.Go(func() { got[i][j] = send(stores[j%2], all[i]) })
				}
				one.Wait()
			}
		})
	}
	for i := range tokens {
		gone := map[int]func(){10: s.redis.Kill, 30: s.redis.Pause}[i]
		back := map[int]func(){10: s.redis.Restart, 30: s.redis.Resume}[i]
		if gone != nil {
			gone()
		}
		next <- i // so that somebody asks Redis while it is away
		if gone != nil {
			awaitMore(t, &unavailable)
			back()
		}
	}
	close(next)
	wg.Wait()
	seen := map[string]bool{}
	for _, replies := range got {
		require.Equal(t, [clients]string{replies[0], replies[0], replies[0]}, replies)
		require.False(t, seen[replies[0]])
		seen[replies[0]] = true
	}
	require.Equal(t, tokens, s.effects())
	t.Logf("%d replies, %d tries without Redis; the slowest call took about %v", replies.Load(), unavailable.Load(), time.Duration(slowest.Load()))
}

// numbered is a business whose every run replies something else.
func numbered(ctx context.Context, tx pgx.Tx) ([]byte, error) {
	var id string
	err := tx.QueryRow(ctx, `INSERT INTO effects (note) VALUES ('') RETURNING id::text`).Scan(&id)
	return []byte(id), err
}

// awaitMore returns when a count has grown.
func awaitMore(t *testing.T, n *atomic.Int64) {
	t.Helper()
	before := n.Load()
	require.Eventually(t, func() bool { return n.Load() > before }, time.Minute, time.Millisecond)
}
