package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTables(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", lamp)
	code, _, err := run("tables", "-C", dir, "token")
	require.Equal(t, 2, code)
	require.Contains(t, err, "fsmgen init", "without the core there is nothing to add to")
	code, _, _ = run("init", "-C", dir)
	require.Zero(t, code)

	code, out, err := run("tables", "-C", dir, "token", "lock", "token")
	require.Zero(t, code, err)
	require.Equal(t, "created  migrations/00002_fsm_token.sql\ncreated  migrations/00003_fsm_lock.sql\n", out)
	landed, readErr := os.ReadFile(filepath.Join(dir, "migrations/00002_fsm_token.sql"))
	require.NoError(t, readErr)
	require.Contains(t, string(landed), "CREATE TABLE fsm_token")

	code, out, _ = run("tables", "-C", dir, "lock")
	require.Zero(t, code)
	require.Equal(t, "nothing to do\n", out)
	code, out, _ = run("tables", "-C", dir)
	require.Zero(t, code)
	require.Regexp(t, `(?m)^token +\S.* \(in 00002_fsm_token\.sql\)$`, out)
	require.Regexp(t, `(?m)^lock +\S.* \(in 00003_fsm_lock\.sql\)$`, out)

	for _, c := range []struct{ name, says string }{
		{"tokn", `there are no tables "tokn"; did you mean token?`},
		{"fsm_token", `there are no tables "fsm_token"; did you mean token?`},
		{"everything", `there are no tables "everything": fsmgen tables lists them`},
	} {
		code, _, err = run("tables", "-C", dir, "lock", c.name)
		require.Equal(t, 2, code, c.name)
		require.Contains(t, err, c.says)
	}
}
