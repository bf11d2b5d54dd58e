package pipeline_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pipeline"
)

// What is not read is returned beside what is; with nothing of either there are no
// definitions.
func TestReadReadableGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := os.DirFS(dir)
	_, _, err := pipeline.ReadReadable(t.Context(), fsys, []string{"."})
	require.ErrorIs(t, err, pipeline.ErrNoDefinitions)
	_, _, err = pipeline.ReadReadable(t.Context(), fsys, []string{"nowhere"})
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "lamp.yaml"), []byte("machine: lamp\n"), 0o644))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o644))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "linked")))
	read, passed, err := pipeline.ReadReadable(t.Context(), fsys, []string{"."})
	require.NoError(t, err)
	require.Equal(t, []pipeline.Definition{{Name: "lamp.yaml", Text: []byte("machine: lamp\n")}}, read)
	require.Len(t, passed, 2)
	require.Equal(t, "linked", passed[0].Name)
	require.ErrorIs(t, passed[0].Err, pipeline.ErrLinkedFolder)
	require.Equal(t, "pipe.yaml", passed[1].Name)
	require.ErrorIs(t, passed[1].Err, pipeline.ErrNotRegular)
}
