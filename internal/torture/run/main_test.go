package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/torture"
)

// Wrong usage ends with 2 and says what is wrong, before anything is started.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "usage: torture [flags]\n"},
		{[]string{"-h"}, 0, "pg_terminate_backend of backends"},
		{[]string{"-seed", "x"}, 2, `torture: invalid value "x" for flag -seed: parse error (-h tells all flags and faults)` + "\n"},
		{[]string{"-for", "0s"}, 2, "-for must be positive"},
		{[]string{"-transitions", "-1"}, 2, "-transitions cannot be negative"},
		{[]string{"-limit", "-1s"}, 2, "-limit cannot be negative"},
		{[]string{"-faults", "kill,flood"}, 2, `there is no fault "flood"`},
		{[]string{"more"}, 2, `unknown argument "more"`},
		{[]string{"-nothing"}, 2, "-nothing"},
		{[]string{asService, "{"}, 2, "service: "},
	} {
		var out, log bytes.Buffer
		require.Equal(t, tc.code, run(t.Context(), tc.args, nil, &out, &log), tc.args)
		require.Contains(t, log.String(), tc.says)
		require.True(t, tc.code == 0 || strings.Count(log.String(), "\n") == 1, "a line says what is wrong: %s", log.String())
		require.Empty(t, out.String())
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-for", "30m", "-seed", "7", "-faults", "kill,cut", "-transitions", "5", "-limit", "1h"}, &bytes.Buffer{})
	require.NoError(t, err)
	require.Equal(t, torture.Options{Seed: 7, For: 30 * time.Minute, Faults: []string{"kill", "cut"}, Transitions: 5, Limit: time.Hour},
		torture.Options{Seed: o.Seed, For: o.For, Faults: o.Faults, Transitions: o.Transitions, Limit: o.Limit})
	first, err := parse(nil, &bytes.Buffer{})
	require.NoError(t, err)
	second, err := parse(nil, &bytes.Buffer{})
	require.NoError(t, err)
	require.NotZero(t, first.Seed)
	require.NotEqual(t, first.Seed, second.Seed, "each run without a seed has another one")
}
