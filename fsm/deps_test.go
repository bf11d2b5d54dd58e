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

// pgx with its pool, that is.
func TestFsmNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const self = "github.com/pawl-go/pawl/fsm"
	needed := others(t, self)
	require.Contains(t, needed, self)
	require.Subset(t, append(others(t, "github.com/jackc/pgx/v5/pgxpool"), self), needed)
}
