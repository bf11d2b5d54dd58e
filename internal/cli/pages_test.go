package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// content reads a file of a project.
func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

func TestDocsWritesAFolderOfPages(t *testing.T) {
	t.Parallel()
	dir := project(t, "definitions/lamp.yaml", lamp, "pages/notes.txt", "a stranger's")
	code, out, err := run("docs", "-C", dir, "pages")
	require.Equal(t, 0, code, err)
	require.Regexp(t, `^\d+ files created\n$`, out)
	require.Contains(t, err, "1 machine checked, 0 errors, 0 warnings; open "+filepath.Join(dir, "pages", "index.html"))
	for _, name := range []string{"index.html", "en/index.html", "en/lamp/index.html", "zh/index.html", "zh/lamp/index.html"} {
		require.Contains(t, content(t, dir, "pages/"+name), "</html>")
	}
	code, out, _ = run("docs", "-C", dir, "pages")
	require.Equal(t, 0, code)
	require.Equal(t, "nothing to do\n", out)

	require.Equal(t, "a stranger's", content(t, dir, "pages/notes.txt"))
}

// Pages of a machine that is gone disappear, and nothing else does.
func TestDocsRemovesWhatIsStale(t *testing.T) {
	t.Parallel()
	dir := project(t, "a/lamp.yaml", lamp, "b/lamp.yaml", strings.Replace(lamp, "lamp", "torch", 1), "out/en/lamp/mine.html", "a stranger's")
	code, _, err := run("docs", "-C", dir, "out", "a")
	require.Equal(t, 0, code, err)
	code, out, err := run("docs", "-C", dir, "out", "b")
	require.Equal(t, 0, code, err)
	require.Regexp(t, `^\d+ files created, 2 files changed, \d+ files removed\n$`, out) // the indexes of both languages change
	require.NoFileExists(t, filepath.Join(dir, "out/zh/lamp/index.html"))
	require.Equal(t, "a stranger's", content(t, dir, "out/en/lamp/mine.html"))
}

func TestDocsRefuses(t *testing.T) {
	t.Parallel()
	dir := project(t, "definitions/lamp.yaml", lamp, "bad/lamp.yaml", broken, "taken/zh/index.html", "<title>a stranger's</title>", "empty/notes.txt", "")
	for _, c := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{nil, 2, "", "docs needs the folder"},
		{[]string{""}, 2, "", "an empty name"},
		{[]string{"definitions"}, 2, "", "definitions holds lamp.yaml, so it is no folder for pages"},
		{[]string{"empty/notes.txt"}, 2, "", "the pages go into a folder"},
		{[]string{"out", "gone"}, 2, "", "gone"},
		{[]string{"out", "empty"}, 2, "", "no definitions"},
		{[]string{"out", "../x"}, 2, "", "outside the project's root"},
		{[]string{"out", "bad"}, 1, "FSM012", "1 error, 0 warnings; nothing was written"},
		{[]string{"out", "--since", "gone"}, 2, "", "--since: neither a path"},
		{[]string{"out", "--since", "bad"}, 2, "FSM012", "--since, bad, has 1 error"},
		{[]string{"taken"}, 2, "", "zh/index.html: a file without our header is in the way"},
	} {
		code, out, err := run(append([]string{"docs", "-C", dir}, c.args...)...)
		require.Equal(t, c.code, code, "%q\n%s%s", c.args, out, err)
		require.Contains(t, out, c.out, "%q", c.args)
		require.Contains(t, err, c.err, "%q", c.args)
	}
	require.NoDirExists(t, filepath.Join(dir, "out"))
	require.NoFileExists(t, filepath.Join(dir, "taken/index.html"), "nothing may be written when something is in the way")
}

func TestDocsTellsWhatChanged(t *testing.T) {
	t.Parallel()
	dir := project(t, "old/lamp.yaml", dimmed, "definitions/lamp.yaml", lamp)
	code, _, err := run("docs", "-C", dir, "out", "--since", "old")
	require.Equal(t, 0, code, err)
	require.Contains(t, content(t, dir, "out/en/lamp/index.html"), "state DIM is removed")
	require.Contains(t, content(t, dir, "out/zh/lamp/index.html"), "状态删除")
}
