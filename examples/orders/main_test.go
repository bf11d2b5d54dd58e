package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongCallsEndWithTwo(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"serve", "now"}} {
		require.Equal(t, 2, run(args), "%v", args)
	}
}

func TestBadSettingEndsWithTwo(t *testing.T) {
	t.Setenv("SWEEP_EVERY", "never")
	require.Equal(t, 2, run([]string{"serve"}))
}

// Ctrl-C is no mistake, also before the service is up; a database that is not there is.
func TestInterruptedWhileStartingEndsWithZero(t *testing.T) {
	t.Setenv("ADDR", "127.0.0.1:0")
	t.Setenv("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none?sslmode=disable")
	require.Equal(t, 1, serve(t.Context()))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	require.Equal(t, 0, serve(ctx))
}
