package lock_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// others lists the packages outside the standard library and this module that a
// build of the package pulls in.
func others(t *testing.T, pkg string) (paths []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasPrefix(path, "github.com/pawl-go/pawl/") {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	needed := others(t, "github.com/pawl-go/pawl/fsm/lock")
	require.NotEmpty(t, needed)
	require.Subset(t, others(t, "github.com/jackc/pgx/v5/pgxpool"), needed)
}
