package sleep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.NoError(t, For(t.Context(), time.Hour))
		require.Equal(t, time.Hour, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, For(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Hour+time.Minute, time.Since(start))
		require.ErrorIs(t, For(ctx, 0), context.DeadlineExceeded, "an ended context wins")
		require.ErrorIs(t, For(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Hour+time.Minute, time.Since(start))
	})
}

func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		wake := make(chan struct{}, 1)
		wake <- struct{}{}
		require.NoError(t, Until(t.Context(), time.Hour, wake), "said before")
		require.Zero(t, time.Since(start))
		time.AfterFunc(time.Minute, func() { wake <- struct{}{} })
		require.NoError(t, Until(t.Context(), time.Hour, wake), "said meanwhile")
		require.Equal(t, time.Minute, time.Since(start))
		require.NoError(t, Until(t.Context(), time.Hour, wake), "said no more")
		require.Equal(t, time.Hour+time.Minute, time.Since(start))

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		require.ErrorIs(t, Until(ctx, time.Hour, wake), context.Canceled)
		require.Equal(t, time.Hour+2*time.Minute, time.Since(start))
		wake <- struct{}{}
		require.ErrorIs(t, Until(ctx, time.Hour, wake), context.Canceled, "an ended context wins")
		require.Len(t, wake, 1)
	})
}
