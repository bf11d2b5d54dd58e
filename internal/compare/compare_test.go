package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machines checks the definitions of a folder, which must have no error.
func machines(t *testing.T, paths ...string) []*model.Machine {
	t.Helper()
	problems := &diag.List{}
	var list []*model.Machine
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		if m := check.Run(syntax.Parse(filepath.Base(path), src, problems), problems); m != nil {
			list = append(list, m)
		}
	}
	check.Set(list, problems)
	var b strings.Builder
	require.NoError(t, problems.Text(&b))
	require.Zero(t, problems.Errors(), b.String())
	return list
}

func folder(t *testing.T, dir string) []*model.Machine {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	return machines(t, paths...)
}

// short writes two lines a change: verdict, level, kind, path and the sides
// that have a reason, with ! behind those that break; then the text.
func short(r *compare.Report) string {
	var b strings.Builder
	for _, c := range r.Changes {
		word := "safe"
		if !c.Safe() {
			word = "breaking"
		}
		fmt.Fprintf(&b, "%s %s %s %s", word, c.Semver(), c.Kind, strings.TrimSuffix(c.Machine+"."+c.Path, "."))
		for _, reason := range c.Reasons {
			b.WriteString(" " + string(reason.Side))
			if reason.Breaks {
				b.WriteByte('!')
			}
		}
		fmt.Fprintf(&b, "\n  %s\n", c.Text)
	}
	fmt.Fprintf(&b, "%s\n", r.Semver())
	return b.String()
}

func TestChanges(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/*/old")
	require.NoError(t, err)
	require.Greater(t, len(dirs), 40)
	for _, old := range dirs {
		dir := filepath.Dir(old)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			require.NoError(t, err)
			got := short(compare.Machines(folder(t, old), folder(t, filepath.Join(dir, "new"))))
			require.Equal(t, string(want), got)
		})
	}
}

// Each kind is the subject of a case.
func TestEveryKindHasACase(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	wants, err := filepath.Glob("testdata/*/want.txt")
	require.NoError(t, err)
	for _, path := range wants {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	require.NotEmpty(t, compare.Kinds())
	for _, k := range compare.Kinds() {
		require.Contains(t, all.String(), " "+string(k)+" ", "no case has %s", k)
	}
}

// docs/diff.md has every kind.
func TestEveryKindIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/diff.md")
	require.NoError(t, err)
	for _, k := range compare.Kinds() {
		require.Contains(t, string(page), "`"+string(k)+"`")
	}
}

// A call that was refused and may move the row now is told as that.
func TestAGuardedMoveInsteadOfARefusal(t *testing.T) {
	t.Parallel()
	r := report(t, "cell-refusal-to-guarded-move")
	require.Equal(t, "calls that were refused move the row now", reasonOf(r.Changes[0], compare.Callers).Text)
}

// Whatever is compared with itself has not changed.
func TestNothingChangedIsNoChange(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../check/testdata/good/*.yaml")
	require.NoError(t, err)
	ours, err := filepath.Glob("testdata/*/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	compared := 0
	for _, path := range append(paths, ours...) {
		problems := &diag.List{}
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		read := func() *model.Machine { return check.Run(syntax.Parse(filepath.Base(path), src, problems), problems) }
		old, new := read(), read()
		if problems.Errors() > 0 {
			continue // internal/check's own tests say that it is good
		}
		compared++
		r := compare.Machines([]*model.Machine{old}, []*model.Machine{new})
		require.Equal(t, "none\n", short(r), path)
	}
	require.Greater(t, compared, len(ours))
}
