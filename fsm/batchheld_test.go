package fsm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// passHeld is what a Coalescer gives its batches.
func passHeld(c *Call) { c.passHeld = true }

// whose has a batch wait in vain for the rows that held says, at each statement, and
// find those that seen says, at each look.
func (r *rows) whose(held func(statement int) string, seen func(look int) string) {
	run, statements, looks := r.batch.Run, 0, 0
	r.batch.Run = func(ctx context.Context, db DB, b *batchCall) ([]batchSays, error) {
		statements++
		for _, key := range b.Keys {
			if strings.Contains(held(statements), string(key)) {
				r.note(b)
				return nil, server("ERROR", "55P03")
			}
		}
		return run(ctx, db, b)
	}
	r.batch.Held = func(_ context.Context, _ DB, keys []spelled) ([]int32, error) {
		looks++
		r.log = append(r.log, "who")
		var all []int32
		for i, key := range keys {
			if strings.Contains(seen(looks), string(key)) {
				all = append(all, int32(i))
			}
		}
		return all, nil
	}
}

func TestABatchPassesOverRowsThatAreHeld(t *testing.T) {
	t.Parallel()
	same := func(keys string) func(int) string { return func(int) string { return keys } }
	at := func(keys ...string) func(int) string {
		return func(n int) string { return append(keys, make([]string, n)...)[n-1] }
	}
	for _, tc := range []struct {
		name, items string
		held, seen  func(int) string
		statements  []string
		left        string // those who are told of it
	}{
		{"one", "a/1 b/1 c/1", same("b"), same("b"), []string{"a/1 b/1 c/1", "who", "a/1 c/1"}, "b"},
		{"several, and all their items", "a/1 b/1 b/2 c/1 d/1", same("bd"), same("bd"),
			[]string{"a/1 b/1 c/1 d/1", "who", "a/1 c/1"}, "bbd"},
		{"all", "a/1 b/1", same("ab"), same("ab"), []string{"a/1 b/1", "who"}, "ab"},
		{"the only one", "a/1 a/2", same("a"), same("a"), []string{"a/1"}, "aa"},
		{"let go since", "a/1 b/1 c/1", at("b"), same(""), []string{"a/1 b/1 c/1", "who", "a/1 b/1 c/1"}, ""},
		{"others each time", "a/1 b/1 c/1 d/1 e/1 f/1", at("a", "b", "c", "d", "e"), at("a", "b", "c", "d", "e"),
			[]string{"a/1 b/1 c/1 d/1 e/1 f/1", "who", "b/1 c/1 d/1 e/1 f/1", "who", "c/1 d/1 e/1 f/1", "who", "d/1 e/1 f/1", "who"}, "abcdef"},
		{"a fact", "a/1 b/1 c/1 d/1", same("b"), same(""),
			[]string{"a/1 b/1 c/1 d/1", "who", "a/1 b/1 c/1 d/1", "who", "a/1 b/1", "who", "a/1", "b/1", "c/1 d/1"}, "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := answering(always("Applied"))
			r.whose(tc.held, tc.seen)
			told, err := r.fire(&fakeDB{}, list(tc.items), passHeld)
			require.NoError(t, err)
			require.Equal(t, tc.statements, r.log)
			left := ""
			for i, item := range list(tc.items) {
				if told[i] != fmt.Sprint("Applied ", item.Key) {
					require.Equal(t, "nothing was done: ERROR: server says (SQLSTATE 55P03)", told[i])
					left += string(item.Key)
				}
			}
			require.Equal(t, tc.left, left)
		})
	}
}

// Nobody else has asked for it: the batch ends, as with every error.
func TestABatchThatWaitsInVainEnds(t *testing.T) {
	t.Parallel()
	held := func(int) string { return "b" }
	r := answering(always("Applied"))
	r.whose(held, held)
	_, err := r.fire(&fakeDB{}, list("a/1 b/1"))
	require.True(t, Retryable(err))
	require.Equal(t, []string{"a/1 b/1"}, r.log, "without the option")

	r.log = nil
	_, err = r.fire(&fakeTx{db: &fakeDB{}}, list("a/1 b/1"), passHeld)
	require.True(t, Retryable(err))
	require.Equal(t, []string{"a/1 b/1"}, r.log, "in a transaction, which is aborted")

	r.log = nil
	r.batch.Held = func(context.Context, DB, []spelled) ([]int32, error) { return nil, errTest }
	_, err = r.fire(&fakeDB{}, list("a/1 b/1"), passHeld)
	require.Equal(t, "55P03", sqlState(err), "the rows cannot be asked for")
}
