package consume_test

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

func TestConsumeNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const fsm = "github.com/pawl-go/pawl/fsm"
	needed := others(t, fsm+"/consume")
	require.Contains(t, needed, fsm+"/consume")
	require.Subset(t, append(others(t, "github.com/jackc/pgx/v5/pgxpool"), fsm, fsm+"/fault", fsm+"/internal/sleep", fsm+"/consume"), needed)
}
