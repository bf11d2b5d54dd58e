package pipeline_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// What this repository holds is what its definitions make.
func TestCommittedOutputIsCurrent(t *testing.T) {
	t.Parallel()
	var problems diag.List
	set, _, err := pipeline.GenerateWaiting(context.Background(), os.DirFS("../.."), &problems, pipeline.DistributedOver(pipeline.Citus))
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	changes, err := set.Diff("../..", pipeline.Owned())
	require.NoError(t, err)
	for _, c := range changes {
		t.Errorf("%s differs; run make generate\n%s", c.Path, c.Diff)
	}
}

// Every code has one rule, with a cause and a fix.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[diag.Code]bool{}
	for _, r := range pipeline.Rules() {
		require.False(t, seen[r.Code], "%s has two rules", r.Code)
		seen[r.Code] = true
		require.NotEmpty(t, r.Short, r.Code)
		require.NotEmpty(t, r.Cause, r.Code)
		require.NotEmpty(t, r.Fix, r.Code)
	}
	require.NotEmpty(t, seen)
}
