package attempt_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// Steps are passed in order and once, and what they leave is there for those
// after them, for the call and for the completion.
func TestSteps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
	boom := errors.New("not today")
	fails := 2
	var seen []string
	b.kind.Steps = []attempt.Step{
		{Name: "reserve", Do: reserve},
		{Name: "note", Do: func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) (any, error) {
			data, passed := a.Step("reserve")
			require.True(t, passed)
			require.JSONEq(t, `{"by":"r1"}`, string(data))
			_, err := tx.Exec(ctx, `INSERT INTO reserved (business_key) VALUES ('noted')`)
			require.NoError(t, err)
			if fails--; fails >= 0 {
				return nil, boom
			}
			return nil, nil
		}},
	}
	complete := b.kind.Complete
	b.kind.Complete = func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
		for _, s := range a.Steps {
			seen = append(seen, s.Name+" "+string(s.Data))
		}
		return complete(ctx, tx, a)
	}
	a := b.start("r1")
	for range 2 {
		got, err := b.drive(a.ID)
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, attempt.ErrUnfinished)
		require.Equal(t, attempt.Started, got.State)
		require.Len(t, got.Steps, 1)
		require.Equal(t, []string{"r1"}, b.texts(`SELECT business_key FROM reserved`))
		require.Equal(t, "sends 0 queries 0", b.provider.seen())
	}
	got := b.driven(a.ID)
	require.Equal(t, []string{`reserve {"by":"r1"}`, "note "}, seen)
	require.Equal(t, got, b.get(a.ID))
	require.Equal(t, []string{"noted", "r1"}, b.texts(`SELECT business_key FROM reserved ORDER BY 1`))
	require.Equal(t, []string{"1 reserve", "2 note"}, b.texts(`SELECT position || ' ' || name FROM fsm_attempt_steps ORDER BY position`))
	_, passed := got.Step("other")
	require.False(t, passed)
}

// A step may refuse: nothing is sent, and the business is told.
func TestStepRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.kind.Steps = []attempt.Step{{Name: "check", Do: func(context.Context, pgx.Tx, attempt.Attempt) (any, error) {
		return nil, attempt.Refuse("over the limit")
	}}}
	a := b.start("r1")
	got, err := b.drive(a.ID)
	require.NoError(t, err)
	require.Equal(t, attempt.Refused, got.State)
	require.Equal(t, "over the limit", got.Code)
	require.Equal(t, []string{"r1 REFUSED"}, b.done())
	require.Equal(t, "sends 0 queries 0", b.provider.seen())
}

// A release that dropped or reordered steps does not go on with an attempt that
// passed others; one that appended a step does.
func TestOtherSteps(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, pgx.Tx, attempt.Attempt) (any, error) { return nil, nil }
	stop := errors.New("stop")
	for _, tc := range []struct {
		name  string
		steps []string
		ok    bool
	}{{"same", []string{"a", "b"}, true}, {"appended", []string{"a", "b", "c"}, true}, {"dropped", []string{"a"}, false}, {"reordered", []string{"b", "a"}, false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			call := b.kind.Call
			b.kind.Steps = []attempt.Step{{Name: "a", Do: nothing}, {Name: "b", Do: nothing}}
			b.kind.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
				return attempt.Result{}, errors.Join(attempt.ErrNotSent, stop)
			}
			a := b.start("r1")
			_, err := b.drive(a.ID)
			require.ErrorIs(t, err, stop)
			b.exec(`UPDATE fsm_attempts SET sends = 0, first_sent_at = NULL`) // as if it had died before the call
			b.kind.Call, b.kind.Steps = call, nil
			for _, name := range tc.steps {
				b.kind.Steps = append(b.kind.Steps, attempt.Step{Name: name, Do: nothing})
			}
			got, err := b.drive(a.ID)
			if !tc.ok {
				require.ErrorIs(t, err, attempt.ErrSteps)
				require.Equal(t, "sends 0 queries 0", b.provider.seen())
				return
			}
			require.NoError(t, err)
			require.Len(t, got.Steps, len(tc.steps))
		})
	}
}
