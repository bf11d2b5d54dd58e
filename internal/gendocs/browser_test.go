package gendocs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/needs"
)

// A browser that opens the pages from disk finds everything in its place:
// testdata/node/docs.mjs of package needs says what.
func TestPagesWorkInABrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := needs.Node(t, "docs.mjs", dir)
	_, err := everything(t).Write(dir, fileset.Owned{Manifest: "SHA256SUMS"})
	require.NoError(t, err)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
