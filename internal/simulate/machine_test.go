package simulate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/syntax"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// machine reads a definition that has no mistake.
func machine(t testing.TB, src string) *simulate.Machine {
	t.Helper()
	return simulate.For(defined(t, src))
}

func defined(t testing.TB, src string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("m.yaml", []byte(src), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	require.Zero(t, problems.Errors(), "%v", problems.Sorted())
	return m
}

// every definition that the project has, by its file's name.
func every(t testing.TB) map[string]*model.Machine {
	t.Helper()
	out := map[string]*model.Machine{}
	for _, pattern := range []string{"../../definitions/*.yaml", "../gendocs/testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			src, err := os.ReadFile(f)
			require.NoError(t, err)
			out[filepath.Base(f)] = defined(t, string(src))
		}
	}
	return out
}

func sample(t testing.TB) *simulate.Machine {
	t.Helper()
	src, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	return machine(t, string(src))
}

// play plays what a link says, which must be readable as a whole.
func play(t testing.TB, m *simulate.Machine, text string) *simulate.Tape {
	t.Helper()
	script := simulate.Parse(text)
	require.Nil(t, script.Problem)
	return m.Play(script.Steps)
}

// outcomes are those of all steps.
func outcomes(t *simulate.Tape) string {
	var out []string
	for _, s := range t.Steps {
		out = append(out, string(s.Outcome))
	}
	return strings.Join(out, ", ")
}

const bought = "1/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100"
