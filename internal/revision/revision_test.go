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

func TestLogListsWhatChangedThePaths(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	entries, err := revision.Log(t.Context(), dir, 10, "definitions")
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, "second", entries[0].Subject)
	require.Empty(t, entries[0].Tags)
	require.Equal(t, "first", entries[1].Subject)
	require.Equal(t, []string{"v1"}, entries[1].Tags)
	require.False(t, entries[1].At.IsZero())
	require.NoError(t, revision.Commit(t.Context(), dir, entries[1].Name))

	entries, err = revision.Log(t.Context(), dir, 1, "definitions")
	require.NoError(t, err)
	require.Len(t, entries, 1)
	entries, err = revision.Log(t.Context(), filepath.Join(dir, "sub"), 10, "definitions")
	require.NoError(t, err)
	require.Len(t, entries, 1, "paths count from the folder")
	require.Equal(t, "first", entries[0].Subject)
	entries, err = revision.Log(t.Context(), dir, 10, ":(top)sub")
	require.NoError(t, err)
	require.Empty(t, entries, "a path is nothing but a path")

	_, err = revision.Log(t.Context(), t.TempDir(), 10, ".")
	require.ErrorIs(t, err, revision.ErrNoRepository)
}

func TestLogOfARepositoryWithoutACommitIsEmpty(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	out, err := exec.Command("git", "-C", dir, "update-ref", "-d", "HEAD").CombinedOutput()
	require.NoError(t, err, string(out))
	entries, err := revision.Log(t.Context(), dir, 10, "definitions")
	require.NoError(t, err)
	require.Empty(t, entries)
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
		{dir, "^v1", revision.ErrNoRevision},
		{dir, "^v1:definitions", revision.ErrNoRevision},
		{dir, "v1:definitions/b.yaml", revision.ErrNoPath},
		{dir, "v1:../outside", revision.ErrNoPath},
		{dir, "v1:definitions/../definitions", revision.ErrNoPath},
		{dir, ":definitions/b.yaml", revision.ErrNoPath},
		{dir, ":definitions/../definitions", revision.ErrNoPath},
		{dir, ":../outside", revision.ErrNoPath},
		{dir, ":/first", revision.ErrNoRevision},
		{dir, ":1:definitions/a.yaml", revision.ErrNoRevision},
		{t.TempDir(), "v1:definitions", revision.ErrNoRepository},
	} {
		_, err := revision.Files(context.Background(), c.dir, c.name, "x", yaml)
		require.ErrorIs(t, err, c.want, c.name)
		if c.name != ":/first" { // a commit, and none whose files are read by that name
			require.False(t, revision.Known(context.Background(), c.dir, c.name), c.name)
		}
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

func TestCommit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for name, want := range map[string]error{
		"v1": nil, "HEAD~1": nil, "v9": revision.ErrNoRevision, "v1:gone": revision.ErrNoPath,
		"HEAD^{tree}": revision.ErrNoCommit, "HEAD:definitions": revision.ErrNoCommit, "HEAD:definitions/a.yaml": revision.ErrNoCommit,
	} {
		err := revision.Commit(context.Background(), dir, name)
		if want == nil {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, want, name)
		}
	}
}

// The index has what the next commit will have, and the working tree more.
func TestTheIndex(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	stage := func() {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions/a.yaml"), []byte("staged\n"), 0o644))
		cmd := exec.Command("git", "add", "definitions/a.yaml")
		cmd.Dir = dir
		require.NoError(t, cmd.Run())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions/a.yaml"), []byte("not staged\n"), 0o644))
	}
	stage()
	const odd = "odd \"名\".yaml"
	for _, c := range []struct {
		in, name, root string
		want           map[string]string
	}{
		{"", ":definitions", "definitions", map[string]string{"definitions/a.yaml": "staged\n", "definitions/" + odd: "odd\n"}},
		{"", ":0:definitions/a.yaml", "definitions/a.yaml", map[string]string{"definitions/a.yaml": "staged\n"}},
		{"", ":", "", map[string]string{"definitions/a.yaml": "staged\n", "definitions/" + odd: "odd\n", "sub/definitions/c.yaml": "sub\n"}},
		{"sub", ":./definitions", "definitions", map[string]string{"definitions/c.yaml": "sub\n"}},
		{"sub", ":definitions/", "definitions", map[string]string{"definitions/a.yaml": "staged\n", "definitions/" + odd: "odd\n"}},
		{"sub", ":../definitions/a.yaml", "definitions/a.yaml", map[string]string{"definitions/a.yaml": "staged\n"}},
	} {
		fsys, err := revision.Files(context.Background(), filepath.Join(dir, c.in), c.name, c.root, yaml)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, contents(t, fsys), c.name)
	}
}

// A hook has variables that name its repository. It changes the environment, so
// it is not parallel.
func TestTheFolderDecidesInAHook(t *testing.T) {
	dir, other := repository(t), t.TempDir()
	cmd := exec.Command("git", "init", "-q", other)
	require.NoError(t, cmd.Run())
	own := filepath.Join(dir, ".git", "next-index")
	content, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(own, content, 0o644))
	add := exec.Command("git", "rm", "-q", "--cached", "sub/definitions/c.yaml")
	add.Dir, add.Env = dir, append(os.Environ(), "GIT_INDEX_FILE="+own)
	require.NoError(t, add.Run())

	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_PREFIX", "sub/")
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git", "index"))
	read := func(name string) map[string]string {
		fsys, err := revision.Files(context.Background(), dir, name, "d", yaml)
		require.NoError(t, err, name)
		return contents(t, fsys)
	}
	require.Equal(t, map[string]string{"d/a.yaml": "one\n"}, read("v1:definitions"))
	require.Equal(t, map[string]string{"d/c.yaml": "sub\n"}, read(":sub/definitions"), "the index of another repository is passed over")

	// A commit of some files has an index of its own.
	for _, name := range []string{own, ".git/next-index"} {
		t.Setenv("GIT_INDEX_FILE", name)
		_, err = revision.Files(context.Background(), dir, ":sub/definitions", "d", yaml)
		require.ErrorIs(t, err, revision.ErrNoPath, name)
	}
}
