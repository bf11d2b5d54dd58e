package suite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machineFiles are the definitions that every suite is tried on.
func machineFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/machines/*.yaml", "../../definitions/*.yaml", "../check/testdata/lifecycles/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	return files
}

func readMachine(t testing.TB, file string) *model.Machine {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	return parse(t, file, src)
}

// machine is one of testdata/machines.
func machine(t testing.TB, name string) *model.Machine {
	t.Helper()
	return readMachine(t, filepath.Join("testdata/machines", name+".yaml"))
}

func parse(t testing.TB, file string, src []byte) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse(file, src, &problems), &problems)
	for _, p := range problems.Sorted() {
		require.NotEqual(t, diag.Error, p.Severity, "%s: %s", p.Pos, p.Message)
	}
	require.NotNil(t, m)
	return m
}
