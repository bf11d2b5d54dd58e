package pipeline_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// BenchmarkDocs renders everything that people get of three machines, in both
// languages; two seconds are what somebody waits for it at most.
func BenchmarkDocs(b *testing.B) {
	var problems diag.List
	machines, err := pipeline.Lint(b.Context(), os.DirFS("../.."), []string{"definitions"}, &problems)
	require.NoError(b, err)
	for b.Loop() {
		_, err := pipeline.Docs(machines, &problems, nil)
		require.NoError(b, err)
	}
}
