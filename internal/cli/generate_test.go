package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file that distributes the tables is made, compared and missed by those runs
// alone that ask for it.
func TestGenerateForADistribution(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", withTable(lamp, "name: lamps, key: {column: id, type: bigint}"))
	generate := func(want int, args ...string) (string, string) {
		t.Helper()
		code, out, text := run(append([]string{"generate", "-C", dir}, args...)...)
		require.Equal(t, want, code, "%q\n%s%s", args, out, text)
		return out, text
	}
	code, _, text := run("init", "-C", dir)
	require.Equal(t, 0, code, text)
	generate(0)
	file := filepath.Join(dir, "gen", "citus.sql")
	require.NoFileExists(t, file)
	out, _ := generate(1, "--check", "--distribution", "citus")
	require.Contains(t, out, "+SELECT create_distributed_table('lamps', 'id', colocate_with => 'none')\n")
	require.NoFileExists(t, file)

	out, _ = generate(0, "--distribution", "citus")
	require.Equal(t, "created  gen/citus.sql\n", out)
	generate(0, "--check", "--distribution", "citus")
	out, _ = generate(0)
	require.Equal(t, "nothing to do\n", out)
	require.FileExists(t, file)

	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(content, "-- more\n"...), 0o644))
	generate(0, "--check")
	out, _ = generate(1, "--check", "--distribution", "citus")
	require.Contains(t, out, "--- more\n")

	_, text = generate(2, "--distribution", "citrus")
	require.Contains(t, text, `there is no distribution "citrus": choose citus`)
}

func TestNothingToDistribute(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", lamp)
	code, out, text := run("generate", "-C", dir, "--distribution", "citus")
	require.Equal(t, 0, code, text)
	require.NotContains(t, out, "citus.sql")
}

// The file that makes roles is kept once it is asked for, in the form that it was asked
// for, and the programs go with it.
func TestGenerateRoles(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", withTable(lamp, "name: lamps, key: {column: id, type: bigint}"))
	generate := func(want int, args ...string) string {
		t.Helper()
		code, out, text := run(append([]string{"generate", "-C", dir}, args...)...)
		require.Equal(t, want, code, "%q\n%s%s", args, out, text)
		return out + text
	}
	code, _, text := run("init", "-C", dir)
	require.Equal(t, 0, code, text)
	generate(0)
	file, db := filepath.Join(dir, "gen", "roles.sql"), filepath.Join(dir, "gen", "db", "lamp.sql.go")
	require.NoFileExists(t, file)
	plain, err := os.ReadFile(db)
	require.NoError(t, err)

	require.Contains(t, generate(0, "--roles", "app=shop_app"), "created  gen/roles.sql\n")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(content), "ON TABLE public.lamps TO shop_app;")
	generate(0, "--check") // without the flag as with it
	require.Contains(t, generate(1, "--check", "--roles", "default"), "+GRANT SELECT, INSERT (id, status, version), UPDATE (status, version) ON TABLE public.lamps TO pawl_app;")

	require.Contains(t, generate(0, "--roles", "app=shop_app,calls=functions"), "changed  gen/db/lamp.sql.go\n")
	called, err := os.ReadFile(db)
	require.NoError(t, err)
	require.Regexp(t, "`-- name: LampCreate :one\nSELECT \\* FROM public\\.fsm_lamp_create_[0-9a-f]{10}\\(\\$1::", string(called))
	generate(0, "--check")

	require.Contains(t, generate(0, "--roles", "none"), "removed  gen/roles.sql\n")
	again, err := os.ReadFile(db)
	require.NoError(t, err)
	require.Equal(t, string(plain), string(again))
	generate(0, "--check")

	require.Contains(t, generate(2, "--roles", "app=Shop"), "app=Shop")
	require.NoFileExists(t, file)
}
