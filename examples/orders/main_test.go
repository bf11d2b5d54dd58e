package main

import (
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
