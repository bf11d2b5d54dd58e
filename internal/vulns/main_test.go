package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	osv      = `{"osv": {"id": "GO-1", "summary": "a hole"}} {"config": {"protocol_version": "v1.0.0"}} `
	inStdlib = `{"finding": {"osv": "GO-1", "fixed_version": "v1.2.3", "trace": [{"module": "stdlib", "version": "v1.2.2", "package": "net/http", "function": "Read"}]}} `
	inModule = `{"finding": {"osv": "GO-1", "trace": [{"module": "example.com/x", "version": "v0.1.0"}]}} `
	called   = `{"finding": {"osv": "GO-1", "trace": [{"module": "example.com/x", "version": "v0.1.0", "package": "x", "function": "F"}, {"module": "ours", "function": "main"}]}} `
)

func TestWhatIsCalledInADependencyIsAnError(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, stream, says string
		code               int
	}{
		{"nothing", osv, "0 known vulnerabilities, 0 of them not called\n", 0},
		{"in the standard library", osv + inStdlib, "the toolchain has it: GO-1 in stdlib@v1.2.2, mended in v1.2.3: a hole\n1 known vulnerabilities, 0 of them not called\n", 0},
		{"not called", osv + inModule, "1 known vulnerabilities, 1 of them not called\n", 0},
		{"called", osv + inModule + called, "called: GO-1 in example.com/x@v0.1.0, mended in no version yet: a hole\n1 known vulnerabilities, 0 of them not called\n", 1},
		{"both", osv + inStdlib + called + inModule, "the toolchain has it: GO-1 in stdlib@v1.2.2, mended in v1.2.3: a hole\ncalled: GO-1 in example.com/x@v0.1.0, mended in no version yet: a hole\n2 known vulnerabilities, 0 of them not called\n", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			found, err := read(strings.NewReader(tc.stream))
			require.NoError(t, err)
			var out bytes.Buffer
			require.Equal(t, tc.code, tell(found, &out))
			require.Equal(t, tc.says, out.String())
		})
	}
	_, err := read(strings.NewReader(osv + `{"finding": `))
	require.Error(t, err)
}

// Without the list nothing was looked at, which is told and is no failure.
func TestWithoutTheListNothingIsLookedAt(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOMODCACHE", t.TempDir())
	var out, log bytes.Buffer
	require.Equal(t, 0, run(t.Context(), []string{"./..."}, &out, &log))
	require.Empty(t, out.String())
	require.Contains(t, log.String(), "nothing was looked at")
}
