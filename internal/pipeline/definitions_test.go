//go:build unix

package pipeline_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

const note = "machine: note\nstates: {WRITTEN: {initial: true, final: true}}\n"

// definitions makes a project with the note's definition and returns its root
// and the folder of definitions.
func definitions(t *testing.T) (root, dir string) {
	t.Helper()
	root = t.TempDir()
	dir = filepath.Join(root, pipeline.Definitions)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.yaml"), []byte(note), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/x\n"), 0o644))
	return root, dir
}

func lint(t *testing.T, root string) ([]*model.Machine, string, error) {
	t.Helper()
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), os.DirFS(root), []string{pipeline.Definitions}, &problems)
	var b strings.Builder
	require.NoError(t, problems.Text(&b))
	return machines, b.String(), err
}

// A pipe without a writer would hold its reader for ever.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	root, dir := definitions(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.txt"), 0o644))
	machines, text, err := lint(t, root)
	require.NoError(t, err, "what is no definition is not looked at")
	require.Empty(t, text)
	require.Len(t, machines, 1)

	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "x.yaml"), 0o644))
	_, _, err = lint(t, root)
	require.ErrorIs(t, err, pipeline.ErrNotRegular)
	require.ErrorContains(t, err, "definitions/x.yaml")
	_, err = pipeline.Generate(context.Background(), os.DirFS(root), &diag.List{})
	require.ErrorIs(t, err, pipeline.ErrNotRegular)
}

// A link to a device leads to it.
func TestADeviceIsNotRead(t *testing.T) {
	t.Parallel()
	root, dir := definitions(t)
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.yaml")))
	_, _, err := lint(t, root)
	require.ErrorIs(t, err, pipeline.ErrNotRegular)
	require.ErrorContains(t, err, "definitions/zero.yaml")
}

// counting is a file system whose files count the bytes that are read.
type counting struct {
	fs.FS
	read *int64
}

type countingFile struct {
	fs.File
	read *int64
}

func (c counting) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil || strings.HasPrefix(filepath.Ext(name), ".y") {
		return countingFile{f, c.read}, err
	}
	return f, err
}

func (c countingFile) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	*c.read += int64(n)
	return n, err
}

func TestAHugeFileIsNotReadWhole(t *testing.T) {
	t.Parallel()
	root, dir := definitions(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "huge.yaml"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(dir, "huge.yaml"), 3<<30))
	var read int64
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), counting{os.DirFS(root), &read}, []string{"definitions/huge.yaml"}, &problems)
	require.NoError(t, err)
	require.Empty(t, machines)
	require.Equal(t, int64(4<<20+1), read)
	require.Len(t, problems.Sorted(), 1)
	require.Equal(t, diag.Code("FSM003"), problems.Sorted()[0].Code)
	require.Equal(t, "this file has more than 4 MiB; split the definition into several machines", problems.Sorted()[0].Message)
}

func TestALinkedFolderIsTold(t *testing.T) {
	t.Parallel()
	root, dir := definitions(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "more")))
	_, _, err := lint(t, root)
	require.ErrorIs(t, err, pipeline.ErrLinkedFolder)
	require.ErrorContains(t, err, "definitions/more")

	var problems diag.List
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "note.yaml"), []byte(note), 0o644))
	machines, err := pipeline.Lint(context.Background(), os.DirFS(root), []string{"definitions/more"}, &problems)
	require.NoError(t, err, "a link that is named is followed")
	require.Len(t, machines, 1)
}

func TestExtensionsInAnyCase(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for i, ext := range []string{"yaml", "YAML", "yml", "YML", "Yaml"} {
		name := string(rune('a'+i)) + "x"
		fsys["definitions/"+name+"."+ext] = &fstest.MapFile{Data: []byte(strings.Replace(note, "note", name, 1))}
	}
	fsys["definitions/README.md"] = &fstest.MapFile{Data: []byte("no definition")}
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), fsys, []string{pipeline.Definitions}, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	require.Len(t, machines, 5)
}

func TestLintAndGenerateStop(t *testing.T) {
	t.Parallel()
	root, _ := definitions(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := pipeline.Lint(ctx, os.DirFS(root), []string{pipeline.Definitions}, &diag.List{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = pipeline.Generate(ctx, os.DirFS(root), &diag.List{})
	require.ErrorIs(t, err, context.Canceled)
}

// What is read beside the definitions is a regular file too, and a folder that
// cannot be looked through is not taken for an empty one.
func TestTheRestOfTheProjectIsReadWithCare(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"queries/x.sql", "migrations/00001_x.sql"} {
		root, _ := definitions(t)
		pipe := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(pipe), 0o755))
		require.NoError(t, syscall.Mkfifo(pipe, 0o644))
		_, err := pipeline.Generate(context.Background(), os.DirFS(root), &diag.List{})
		require.ErrorIs(t, err, pipeline.ErrNotRegular)
		require.ErrorContains(t, err, name)
	}
	root, dir := definitions(t)
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "more")))
	_, err := pipeline.Scaffold(os.DirFS(root))
	require.ErrorIs(t, err, pipeline.ErrLinkedFolder)
}
