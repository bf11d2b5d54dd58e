package command_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsNeedPgxAlone(t *testing.T) {
	t.Parallel()
	others := func(pkg string) []string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	const fsm = "github.com/pawl-go/pawl/fsm"
	allowed := append(others("github.com/jackc/pgx/v5/pgxpool"), fsm, fsm+"/fault", fsm+"/internal/sleep", fsm+"/command", fsm+"/command/commandhttp")
	require.Subset(t, allowed, others(fsm+"/command/commandhttp"))
}
