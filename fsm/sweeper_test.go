package fsm

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// pages is a sweep that moves so many rows a page, and nothing after the last
// page. A negative number is a failure.
func pages(event string, seen *[]SweepPage, sizes ...int) Sweep {
	return func(_ context.Context, _ DB, p SweepPage) ([]Swept, error) {
		*seen = append(*seen, p)
		if len(sizes) == 0 {
			return nil, nil
		}
		n := sizes[0]
		sizes = sizes[1:]
		if n < 0 {
			return nil, &CallError{"order", event, ErrUnknown, errTest}
		}
		rows := make([]Swept, n)
		for i := range rows {
			rows[i].Event = event
		}
		return rows, nil
	}
}

func TestSweeperPagesUntilAShortPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		sizes        []int
		calls, moved int
	}{
		{"nothing due", nil, 1, 0},
		{"a short page", []int{2}, 1, 2},
		{"a full page", []int{3}, 2, 3},
		{"full, full, short", []int{3, 3, 1, 3}, 3, 7},
	} {
		var seen []SweepPage
		var told []int
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s := &Sweeper{
			Sweeps: []Sweep{pages("expire", &seen, c.sizes...)}, Page: SweepPage{Limit: 3, Now: &now},
			Swept: func(rows []Swept) { told = append(told, len(rows)) },
		}
		moved, err := s.Once(t.Context())
		require.NoError(t, err, c.name)
		require.Equal(t, c.moved, moved, c.name)
		require.Len(t, seen, c.calls, c.name)
		require.Equal(t, SweepPage{Limit: 3, Now: &now, Actor: "deadline"}, seen[0])
		sum := 0
		for _, n := range told {
			require.Positive(t, n, "nobody is told of nothing")
			sum += n
		}
		require.Equal(t, c.moved, sum, c.name)
	}
}

func TestAFailedSweepDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	var seen []SweepPage
	db := &fakeDB{}
	s := &Sweeper{DB: db, Page: SweepPage{Limit: 2, Actor: "clock"}, Sweeps: []Sweep{
		pages("expire", &seen, 2, -1, 2), pages("receive", &seen, -1), pages("query", &seen, 1),
		func(_ context.Context, got DB, _ SweepPage) ([]Swept, error) {
			require.Same(t, db, got)
			return nil, nil
		},
	}}
	moved, err := s.Once(t.Context())
	require.Equal(t, 3, moved, "two rows before the failure and one after it")
	require.ErrorIs(t, err, ErrUnknown)
	require.EqualError(t, err, "order expire: outcome is unknown: made by the test\norder receive: outcome is unknown: made by the test")
	require.Len(t, seen, 4)
	require.Equal(t, "clock", seen[0].Actor)

	moved, err = (&Sweeper{}).Once(t.Context())
	require.NoError(t, err)
	require.Zero(t, moved)
}

func TestRunGoesOnAfterAFailureAndStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var seen []SweepPage
	var failed []error
	var waited []time.Duration
	s := &Sweeper{
		Sweeps: []Sweep{pages("expire", &seen, -1, 1, -1)},
		Failed: func(err error) { failed = append(failed, err) },
		Wait: func(ctx context.Context, d time.Duration) error {
			waited = append(waited, d)
			if len(waited) == 3 {
				cancel()
			}
			return nil // a Wait that does not look at its context
		},
	}
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	require.Len(t, seen, 3)
	require.Len(t, failed, 2)
	require.ErrorIs(t, failed[0], errTest)
	require.Equal(t, []time.Duration{time.Second, time.Second, time.Second}, waited)
}

func TestRunEndsWithTheErrorOfWait(t *testing.T) {
	t.Parallel()
	s := &Sweeper{Every: time.Minute, Wait: func(_ context.Context, d time.Duration) error {
		require.Equal(t, time.Minute, d)
		return errTest
	}}
	require.ErrorIs(t, s.Run(t.Context()), errTest)
}

func TestRunDoesNotTellOfFailuresOfItsOwnEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &Sweeper{
		Sweeps: []Sweep{func(ctx context.Context, _ DB, _ SweepPage) ([]Swept, error) {
			cancel()
			return nil, ctx.Err()
		}},
		Failed: func(error) { t.Error("told of the end") },
	}
	require.ErrorIs(t, s.Run(ctx), context.Canceled, "with the timer of its own")

	s.Sweeps[0] = func(context.Context, DB, SweepPage) ([]Swept, error) {
		t.Error("swept after the end")
		return nil, nil
	}
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
}

func TestSweepPageSize(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int32{
		math.MinInt: 1000, -1: 1000, 0: 1000, 1: 1, 1000: 1000,
		100_000: 100_000, 100_001: 100_000, math.MaxInt32 + 1: 100_000, math.MaxInt: 100_000,
	} {
		require.Equal(t, want, SweepPage{Limit: limit}.Size(), limit)
	}
}

// A row that the database refuses to move is passed over alone; those behind
// it move, whatever the size of the page.
func TestOnceMovesWhatStandsBehindARefusedRow(t *testing.T) {
	t.Parallel()
	due := []string{"a", "poison", "b", "c", "venom", "d", "e"}
	moved := map[string]bool{}
	sweep := func(_ context.Context, _ DB, page SweepPage) ([]Swept, error) {
		var left, swept = []string{}, []Swept{}
		for _, key := range due {
			if !moved[key] {
				left = append(left, key)
			}
		}
		left = left[min(int(page.Skipped()), len(left)):]
		left = left[:min(int(page.Size()), len(left))]
		for _, key := range left {
			if key == "poison" || key == "venom" {
				return nil, SweepError(&EventInfo{Machine: "m", Event: "e"}, &pgconn.PgError{Code: "23514", SeverityUnlocalized: "ERROR"})
			}
			swept = append(swept, Swept{Key: key})
		}
		for _, s := range swept {
			moved[s.Key] = true
		}
		return swept, nil
	}
	for _, limit := range []int{1, 2, 3, 1000} {
		clear(moved)
		s := &Sweeper{Sweeps: []Sweep{sweep}, Page: SweepPage{Limit: limit}}
		n, err := s.Once(context.Background())
		require.Equal(t, 5, n, "page of %d", limit)
		require.ErrorIs(t, err, ErrNothingDone)
	}
}

// An error that is not the row's ends the sweep: the next round tries again.
func TestOnceGivesUpWhereRowsAreNotToBlame(t *testing.T) {
	t.Parallel()
	calls := 0
	s := &Sweeper{Sweeps: []Sweep{func(context.Context, DB, SweepPage) ([]Swept, error) {
		calls++
		return nil, SweepError(&EventInfo{}, &pgconn.PgError{Code: "40001", SeverityUnlocalized: "ERROR"})
	}}}
	_, err := s.Once(context.Background())
	require.True(t, Retryable(err))
	require.Equal(t, 1, calls)
}

func TestSkippedIsBounded(t *testing.T) {
	t.Parallel()
	for skip, want := range map[int]int32{-1: 0, 0: 0, 7: 7, 1 << 40: maxPage} {
		require.Equal(t, want, SweepPage{Skip: skip}.Skipped())
	}
}
