package attempt_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
)

var ann = fsm.Correction{Actor: "ann", Reason: "rang them up"}

// stuck returns an attempt that waits for a person, with its outcome not known.
func (b *bench) stuck(key string) attempt.Attempt {
	b.t.Helper()
	kind := *b.kind
	kind.Policy.MaxRounds = 1
	kind.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
		return attempt.Result{}, errors.New("no answer")
	}
	a := b.start(key)
	got, err := attempt.Drive(b.t.Context(), b.pool, &kind, a.ID)
	require.ErrorIs(b.t, err, attempt.ErrStuck)
	require.Equal(b.t, "no answer", got.LastError)
	return got
}

func (b *bench) audit() []string {
	b.t.Helper()
	return b.texts(`SELECT concat_ws(' ', machine, action, from_status, to_status, actor, reason) FROM fsm_audit ORDER BY id`)
}

func TestResume(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.stuck("r1")
	require.NoError(t, attempt.Resume(t.Context(), b.pool, a.ID, ann))
	require.ErrorIs(t, attempt.Resume(t.Context(), b.pool, a.ID, ann), attempt.ErrNotStuck)
	require.Equal(t, []string{"attempt refund resume UNKNOWN UNKNOWN ann rang them up"}, b.audit())
	n, err := b.completer().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "sends 1 queries 1", b.provider.seen(), "it was looked up first")
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

func TestSettle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	did, not := b.stuck("did"), b.stuck("not")
	require.NoError(t, attempt.Settle(t.Context(), b.pool, did.ID, attempt.Succeeded, attempt.Result{Ref: "re_7", Data: json.RawMessage(`{}`)}, "", ann))
	require.NoError(t, attempt.Settle(t.Context(), b.pool, not.ID, attempt.Refused, attempt.Result{}, "never arrived", ann))
	n, err := b.completer().Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"did SUCCEEDED", "not REFUSED"}, b.done())
	require.Equal(t, "re_7", b.get(did.ID).Result.Ref)
	require.Equal(t, "never arrived", b.get(not.ID).Code)
	require.Equal(t, "sends 0 queries 0", b.provider.seen(), "nobody asked again")
	require.Equal(t, []string{
		"attempt refund settle UNKNOWN SUCCEEDED ann rang them up",
		"attempt refund settle UNKNOWN REFUSED ann rang them up",
	}, b.audit())
}

func TestRepairRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	running := b.start("running")
	stuck := b.stuck("stuck")
	ctx, ok := t.Context(), attempt.Result{Ref: "re_7"}
	settle := func(id string, state attempt.State, r attempt.Result, code string, by fsm.Correction) error {
		return attempt.Settle(ctx, b.pool, id, state, r, code, by)
	}
	require.ErrorIs(t, attempt.Resume(ctx, b.pool, running.ID, ann), attempt.ErrNotStuck)
	require.ErrorIs(t, attempt.Resume(ctx, b.pool, "00000000-0000-4000-8000-000000000000", ann), attempt.ErrNotFound)
	for name, err := range map[string]error{
		"no uuid":     attempt.Resume(ctx, b.pool, "x", ann),
		"nobody":      attempt.Resume(ctx, b.pool, stuck.ID, fsm.Correction{Reason: "x"}),
		"no reason":   settle(stuck.ID, attempt.Succeeded, ok, "", fsm.Correction{Actor: "ann"}),
		"a NUL":       settle(stuck.ID, attempt.Succeeded, ok, "", fsm.Correction{Actor: "a\x00", Reason: "x"}),
		"no answer":   settle(stuck.ID, attempt.Unknown, ok, "", ann),
		"both":        settle(stuck.ID, attempt.Refused, ok, "x", ann),
		"a code":      settle(stuck.ID, attempt.Succeeded, ok, "x", ann),
		"bad ref":     settle(stuck.ID, attempt.Succeeded, attempt.Result{Ref: "a\x00"}, "", ann),
		"bad data":    settle(stuck.ID, attempt.Succeeded, attempt.Result{Data: json.RawMessage(`{`)}, "", ann),
		"a long code": settle(stuck.ID, attempt.Refused, attempt.Result{}, strings.Repeat("x", 201), ann),
	} {
		require.ErrorIs(t, err, attempt.ErrArgument, name)
	}
	require.Empty(t, b.audit())
	require.NotNil(t, b.get(stuck.ID).StuckAt)
}

// What the provider said is not to be said otherwise by a person: an attempt that
// is stuck in its completion can be resumed and not settled.
func TestAnsweredIsNotSettled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	broken := *b.kind
	broken.Policy.MaxRounds = 1
	broken.Complete = func(context.Context, pgx.Tx, attempt.Attempt) error { return errors.New("a bug") }
	a := b.start("r1")
	_, err := attempt.Drive(t.Context(), b.pool, &broken, a.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)
	err = attempt.Settle(t.Context(), b.pool, a.ID, attempt.Refused, attempt.Result{}, "no", ann)
	require.ErrorIs(t, err, attempt.ErrNotStuck)
	require.Equal(t, attempt.Succeeded, b.get(a.ID).State)
	require.NoError(t, attempt.Resume(t.Context(), b.pool, a.ID, ann))
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, "sends 1 queries 0", b.provider.seen())
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

func TestStuckPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("running")
	one, two, three := b.stuck("one"), b.stuck("two"), b.stuck("three")
	page, err := attempt.StuckPage(t.Context(), b.pool, "refund", attempt.Attempt{}, 2)
	require.NoError(t, err)
	require.Equal(t, []attempt.Attempt{one, two}, page)
	page, err = attempt.StuckPage(t.Context(), b.pool, "refund", page[1], 2)
	require.NoError(t, err)
	require.Equal(t, []attempt.Attempt{three}, page)
	page, err = attempt.StuckPage(t.Context(), b.pool, "other", attempt.Attempt{}, 0)
	require.NoError(t, err)
	require.Empty(t, page)
}
