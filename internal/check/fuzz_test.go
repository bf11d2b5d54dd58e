package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// FuzzRun looks for definitions that panic, that are refused without an error,
// whose problems lie outside the text, or that are not checked the same way
// twice.
func FuzzRun(f *testing.F) {
	definitions, err := filepath.Glob("testdata/*/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, definitions)
	for _, path := range definitions {
		src, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(src)
	}
	// The parser is made ready on its first use, which would pass for a hang.
	ready, err := os.ReadFile("testdata/bad/FSM012-guard-of-two-events.yaml")
	require.NoError(f, err)
	checked(ready)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, problems := checked(src)
		if m == nil {
			require.NotZero(t, problems.Errors(), "refused without an error")
		}
		lines := bytes.Split(src, []byte("\n"))
		for _, p := range problems.Sorted() {
			require.Equal(t, "d.yaml", p.Pos.File)
			require.NotEmpty(t, p.Message)
			require.LessOrEqual(t, p.Pos.Line, len(lines))
			if p.Pos.Line > 0 {
				require.Positive(t, p.Pos.Col)
				require.LessOrEqual(t, p.Pos.Col, len(lines[p.Pos.Line-1])+1)
			}
		}
		again, repeated := checked(bytes.Clone(src))
		require.Equal(t, problems.Sorted(), repeated.Sorted())
		require.True(t, reflect.DeepEqual(m, again))
		if m != nil {
			usable(t, m)
		}
	})
}

// usable holds a machine to what renderers take for granted.
func usable(t *testing.T, m *model.Machine) {
	t.Helper()
	for _, e := range m.Events {
		require.Len(t, e.Cells, len(m.States))
	}
	for _, s := range m.States {
		require.True(t, s.Deadline == nil || s.Deadline.Event != nil)
	}
	for _, tr := range m.Transitions {
		require.NotNil(t, tr.To)
		require.NotNil(t, tr.Event)
		require.NotEmpty(t, tr.From)
		require.True(t, tr.Guard == nil || tr.Guard.SQL != nil)
		for _, a := range tr.Set {
			require.NotNil(t, a.Value)
		}
	}
	require.NotNil(t, m.Initial())
	require.True(t, m.Table == nil || len(m.Table.Keys) > 0)
}

func checked(src []byte) (*model.Machine, *diag.List) {
	problems := &diag.List{}
	m := check.Run(syntax.Parse("d.yaml", src, problems), problems)
	check.Set([]*model.Machine{m}, problems)
	return m, problems
}
