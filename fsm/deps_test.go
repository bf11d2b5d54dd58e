package fsm

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// others lists the packages outside the standard library that a build of the
// package pulls in.
func others(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// pgx with its pool, that is; what is internal to it needs no more.
func TestFsmNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const self = "github.com/pawl-go/pawl/fsm"
	needed := others(t, self)
	require.Contains(t, needed, self)
	require.Subset(t, append(others(t, "github.com/jackc/pgx/v5/pgxpool"), self, self+"/internal/sleep"), needed)
}

// OpenTelemetry is fsmotel's, and its API alone: the SDK is for programs, and for tests.
func TestOpenTelemetryIsForFsmotelAlone(t *testing.T) {
	t.Parallel()
	const self, theirs = "github.com/pawl-go/pawl/fsm", "go.opentelemetry.io/otel"
	out, err := exec.CommandContext(t.Context(), "go", "list", self+"/...").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, self+"/fsmotel")
	for _, pkg := range packages {
		if pkg == self+"/fsmotel" {
			continue
		}
		for _, needed := range others(t, pkg) {
			require.False(t, strings.HasPrefix(needed, theirs), "%s needs %s", pkg, needed)
		}
	}
	api := others(t, "github.com/jackc/pgx/v5/pgxpool")
	for _, part := range []string{"", "/attribute", "/codes", "/metric", "/trace"} {
		api = append(api, others(t, theirs+part)...)
	}
	for _, needed := range others(t, self+"/fsmotel") {
		if !strings.HasPrefix(needed, self) {
			require.Contains(t, api, needed)
		}
		require.False(t, strings.HasPrefix(needed, theirs+"/sdk"), needed)
	}
}
