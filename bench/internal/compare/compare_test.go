package compare_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func runner(t *testing.T) *compare.Runner {
	t.Helper()
	return &compare.Runner{Server: testdb.URL(t), Rounds: 2, Time: 40 * time.Millisecond, Random: rand.New(rand.NewPCG(1, 1))}
}

// liar says that it has moved every order, and moves none.
func liar(ours bool) contender.Contender {
	return contender.Contender{Name: "liar", Ours: ours, Once: true, Size: 1, Open: func(context.Context, contender.Env) (contender.Opened, error) {
		return contender.Opened{Call: func(_ context.Context, d []contender.Delivery) (int, error) { return len(d), nil }, Close: func() {}}, nil
	}}
}

func TestEveryLoadIsMeasuredAndCounted(t *testing.T) {
	t.Parallel()
	for _, load := range []result.Load{compare.FirstNear, compare.FirstAway, compare.ToldAgain, compare.StormNear, compare.OneHotOrder} {
		load.Callers = 4
		t.Run(load.Kind+load.Delay.String(), func(t *testing.T) {
			t.Parallel()
			c, err := runner(t).Run(t.Context(), load, []contender.Contender{contender.Usual(), contender.Pawl(), contender.PawlCoalesced()})
			require.NoError(t, err)
			require.Equal(t, load, c.Load)
			for _, row := range c.Rows {
				require.Empty(t, row.Failed, row.Contender)
				require.Len(t, row.Samples, 2)
				require.Positive(t, row.Sum.Min)
				require.Equal(t, load.Kind != compare.Duplicates, row.Counts.Orders > 0)
				require.NoError(t, row.Counts.Err(), row.Contender)
			}
		})
	}
}

func TestWhoLiesIsLeftOut(t *testing.T) {
	t.Parallel()
	c, err := runner(t).Run(t.Context(), compare.FirstNear, []contender.Contender{liar(false), contender.Pawl()})
	require.NoError(t, err)
	require.Contains(t, c.Rows[0].Failed, "it moved 0")
	require.Empty(t, c.Rows[0].Samples)
	require.Len(t, c.Rows[1].Samples, 2)
}

func TestWhoOfOursLiesEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{compare.First, compare.Storm, compare.Duplicates} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			load := compare.FirstNear
			load.Kind = kind
			_, err := runner(t).Run(t.Context(), load, []contender.Contender{liar(true)})
			require.ErrorContains(t, err, "liar")
		})
	}
}

// quiet says that duplicates move nothing, and sends a message for each.
func quiet(ours bool) contender.Contender {
	return contender.Contender{Name: "quiet", Ours: ours, Once: true, Size: 1, Open: func(ctx context.Context, env contender.Env) (contender.Opened, error) {
		pool, err := pgxpool.New(ctx, env.URL)
		if err != nil {
			return contender.Opened{}, err
		}
		return contender.Opened{Call: func(ctx context.Context, d []contender.Delivery) (int, error) {
			_, err := pool.Exec(ctx, `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
				SELECT machine, key, version, event, topic, payload, at FROM fsm_outbox WHERE key = $1 LIMIT 1`, d[0].Key)
			return 0, err
		}, Close: pool.Close}, nil
	}}
}

// The database is counted after duplicates too, and what one contender changed
// is not laid to the next one.
func TestWhoChangesWhatWasPaidIsFoundOut(t *testing.T) {
	t.Parallel()
	c, err := runner(t).Run(t.Context(), compare.ToldAgain, []contender.Contender{quiet(false), contender.Pawl()})
	require.NoError(t, err)
	require.Contains(t, c.Rows[0].Failed, "duplicates had an effect")
	require.Len(t, c.Rows[1].Samples, 2)

	_, err = runner(t).Run(t.Context(), compare.ToldAgain, []contender.Contender{quiet(true)})
	require.ErrorContains(t, err, "quiet: duplicates had an effect")
}

func TestWhoCannotOpenIsLeftOut(t *testing.T) {
	t.Parallel()
	broken := liar(false)
	broken.Open = func(context.Context, contender.Env) (contender.Opened, error) {
		return contender.Opened{}, errors.New("does not run here")
	}
	c, err := runner(t).Run(t.Context(), compare.FirstNear, []contender.Contender{broken})
	require.NoError(t, err)
	require.Equal(t, "does not run here", c.Rows[0].Failed)
}

// The loads that goals are about are those that are run, quick or not.
func TestThePlanHasTheGoalsLoads(t *testing.T) {
	t.Parallel()
	for _, quick := range []bool{true, false} {
		planned := map[result.Load][]string{}
		for _, p := range compare.Plan(quick) {
			require.NotContains(t, planned, p.Load)
			for _, c := range p.Contenders {
				planned[p.Load] = append(planned[p.Load], c.Name)
			}
		}
		for load, names := range map[result.Load][]string{
			compare.FirstNear:   {"Pawl", "hand-written statement", "usual transaction"},
			compare.FirstAway:   {"Pawl", "usual transaction"},
			compare.FirstMany:   {"Pawl coalesced", "usual transaction"},
			compare.PayMany:     {"Pawl coalesced", "usual transaction"},
			compare.ToldAgain:   {"Pawl", "SELECT row and fact"},
			compare.OneHotOrder: {"Pawl", "usual transaction"},
		} {
			require.Subset(t, planned[load], names)
		}
	}
}
