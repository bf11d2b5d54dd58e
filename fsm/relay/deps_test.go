package relay

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

func TestRelayNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const ours = "github.com/pawl-go/pawl/fsm"
	needed := others(t, ours+"/relay")
	require.Contains(t, needed, ours+"/relay")
	require.Subset(t, append(others(t, "github.com/jackc/pgx/v5/pgxpool"), ours, ours+"/fault", ours+"/internal/alone", ours+"/internal/sleep", ours+"/relay"), needed)
}
