package fileset

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var listed = Owned{Manifest: "SUMS"}

// A manifest tells our own files without a header from a stranger's.
func TestWriteReplacesAndRemovesWhatTheManifestLists(t *testing.T) {
	t.Parallel()
	root := disk(t, "notes.txt", "a stranger's")
	_, err := newSet(t, "a.csv", "1", "b.csv", "1", "deep/c.csv", "1").Write(root, listed)
	require.NoError(t, err)
	second := newSet(t, "a.csv", "2", "d.csv", "2")
	told, err := second.Diff(root, listed)
	require.NoError(t, err)
	done, err := second.Write(root, listed)
	require.NoError(t, err)
	require.Equal(t, told, done)
	require.Equal(t, []string{"changed a.csv", "removed b.csv", "created d.csv", "removed deep/c.csv"}, summary(done))
	require.Equal(t, map[string]string{
		"notes.txt": "a stranger's", "a.csv": "2", "d.csv": "2",
		// printf 2 | sha256sum
		"SUMS": manifestHeader + "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  a.csv\n" +
			"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  d.csv\n",
	}, tree(t, root))
	again, err := second.Write(root, listed)
	require.NoError(t, err)
	require.Nil(t, again)
}

// A tester's results in a sheet are not overwritten, and not removed.
func TestWriteKeepsWhatSomebodyHasChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  *Set
		err  error
	}{
		{"replacing", newSet(t, "a.csv", "2"), ErrUnowned},
		{"removing", newSet(t, "b.csv", "2"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := disk(t)
			_, err := newSet(t, "a.csv", "1").Write(root, listed)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(root, "a.csv"), []byte("passed"), 0o644))
			_, err = c.set.Write(root, listed)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, "passed", tree(t, root)["a.csv"])
		})
	}
}

// A write that was cut short is finished by the next, whatever that one brings.
func TestAWriteThatWasCutShortIsFinished(t *testing.T) {
	t.Parallel()
	root := disk(t)
	first, second := newSet(t, "a.csv", "1", "z/b.csv", "1"), newSet(t, "a.csv", "2", "z/b.csv", "2")
	_, err := first.Write(root, listed)
	require.NoError(t, err)
	blocked := filepath.Join(root, "z", ".fsmgen-0.tmp") // what the second needs for z/b.csv, and a thousand more
	for n := range 1000 {
		name := strings.Replace(blocked, "-0.", "-"+strconv.Itoa(n)+".", 1)
		require.NoError(t, os.WriteFile(name, nil, 0o644))
	}
	_, err = second.Write(root, listed)
	var partial *PartialError
	require.ErrorAs(t, err, &partial)
	require.Equal(t, []string{"a.csv"}, partial.Written)
	for n := range 1000 {
		require.NoError(t, os.Remove(strings.Replace(blocked, "-0.", "-"+strconv.Itoa(n)+".", 1)))
	}
	_, err = newSet(t, "a.csv", "3", "z/b.csv", "3").Write(root, listed)
	require.NoError(t, err)
	require.Equal(t, "3", tree(t, root)["a.csv"])
	require.Equal(t, "3", tree(t, root)["z/b.csv"])
}

func TestAStrangersManifestIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0", 64)
	for _, c := range []struct{ name, content, want string }{
		{"no header", hash + "  a.csv\n", ErrUnowned.Error()},
		{"no hash", manifestHeader + "a.csv\n", "SUMS:2: not a line of sha256sum"},
		{"leads out", manifestHeader + hash + "  a.csv\n" + hash + "  ../a.csv\n", "SUMS:3: not a line of sha256sum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := disk(t, "SUMS", c.content)
			_, err := newSet(t, "a.csv", "1").Write(root, listed)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, map[string]string{"SUMS": c.content}, tree(t, root))
		})
	}
	_, err := newSet(t, "a", "1").Write(disk(t), Owned{Manifest: "../SUMS"})
	require.ErrorIs(t, err, ErrBadPath)
}
