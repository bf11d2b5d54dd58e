package pipeline_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

func BenchmarkDocs(b *testing.B) {
	var problems diag.List
	machines, err := pipeline.Lint(b.Context(), os.DirFS("../.."), []string{"definitions"}, &problems)
	require.NoError(b, err)
	for b.Loop() {
		_, err := pipeline.Docs(machines, &problems, nil)
		require.NoError(b, err)
	}
}
