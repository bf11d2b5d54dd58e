package revision_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/revision"
)

// repository makes one with two commits: the first has definitions/a.yaml and
// sub/definitions/c.yaml, the second changes the one and adds another.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	write := func(name, content string) {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
	run("init", "-q")
	write("definitions/a.yaml", "one\n")
	write("definitions/notes.txt", "no definition\n")
	write("sub/definitions/c.yaml", "sub\n")
	run("add", ".")
	run("commit", "-q", "-m", "first")
	run("tag", "v1")
	write("definitions/a.yaml", "two\n")
	write("definitions/odd \"名\".yaml", "odd\n")
	run("add", ".")
	run("commit", "-q", "-m", "second")
	write("definitions/a.yaml", "not committed\n")
	return dir
}

func yaml(name string) bool { return strings.HasSuffix(name, ".yaml") }

func contents(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		found[name] = string(text)
		return err
	}))
	return found
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, c := range []struct {
		in, name, root string
		want           map[string]string
	}{
		{"", "v1:definitions", "definitions", map[string]string{"definitions/a.yaml": "one\n"}},
		{"", "HEAD:./definitions", "definitions", map[string]string{"definitions/a.yaml": "two\n", "definitions/odd \"名\".yaml": "odd\n"}},
		{"", "HEAD~1:definitions/a.yaml", "definitions/a.yaml", map[string]string{"definitions/a.yaml": "one\n"}},
		{"", "v1:", "", map[string]string{"definitions/a.yaml": "one\n", "sub/definitions/c.yaml": "sub\n"}},
		{"sub", "v1:./definitions", "definitions", map[string]string{"definitions/c.yaml": "sub\n"}},
		{"sub", "v1:definitions", "definitions", map[string]string{"definitions/a.yaml": "one\n"}},
	} {
		fsys, err := revision.Files(context.Background(), filepath.Join(dir, c.in), c.name, c.root, yaml)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, contents(t, fsys), c.name)
	}
}

func TestFilesErrors(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for _, c := range []struct {
		dir, name string
		want      error
	}{
		{dir, "v9:definitions", revision.ErrNoRevision},
		{dir, "v9", revision.ErrNoRevision},
		{dir, "--all", revision.ErrNoRevision},
		{dir, "v1:definitions/b.yaml", revision.ErrNoPath},
		{dir, "v1:../outside", revision.ErrNoPath},
		{t.TempDir(), "v1:definitions", revision.ErrNoRepository},
	} {
		_, err := revision.Files(context.Background(), c.dir, c.name, "x", yaml)
		require.ErrorIs(t, err, c.want, c.name)
		require.False(t, revision.Known(context.Background(), c.dir, c.name), c.name)
	}
	require.True(t, revision.Known(context.Background(), dir, "v1"))

	ended, end := context.WithCancel(context.Background())
	end()
	_, err := revision.Files(ended, dir, "v1:definitions", "x", yaml)
	require.ErrorIs(t, err, context.Canceled)
}

func TestALinkIsRefused(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	if err := os.Symlink("a.yaml", filepath.Join(dir, "definitions/link.yaml")); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "link"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	_, err := revision.Files(context.Background(), dir, "HEAD:definitions", "definitions", yaml)
	require.ErrorIs(t, err, revision.ErrLink)
	require.ErrorContains(t, err, "definitions/link.yaml")
}

// Without git the error says so. It changes PATH, so it is not parallel.
func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := revision.Files(context.Background(), t.TempDir(), "HEAD:definitions", "definitions", yaml)
	require.ErrorIs(t, err, revision.ErrNoGit)
}
