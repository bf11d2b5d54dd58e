package attempt_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// others lists the packages outside the standard library that a build pulls in.
func others(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// Who drives attempts without River builds no River.
func TestAttemptNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const module = "github.com/pawl-go/pawl/fsm"
	needed := others(t, module+"/attempt")
	require.Contains(t, needed, module+"/attempt")
	require.Subset(t, append(others(t, "github.com/jackc/pgx/v5/pgxpool"), module, module+"/fault", module+"/internal/alone", module+"/internal/sleep", module+"/attempt"), needed)
}
