package pipeline_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// docs/rules.md documents every code.
func TestRulesPageIsCurrent(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Problem codes\n\nWhat `fsmgen` reports, with cause and remedy. `fsmgen rules CODE` prints one of them.\n\n| code | severity | what | cause | fix |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range pipeline.Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Code, r.Severity, cell(r.Short), cell(r.Cause), cell(r.Fix))
	}
	const page = "../../docs/rules.md"
	if *update {
		require.Empty(t, os.Getenv("CI"), "-update is not for CI")
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "run go test ./internal/pipeline -update")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// The definition that docs/definition.md begins with has no problem.
func TestTheExampleOfTheLanguagePageIsClean(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/definition.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	text, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), fstest.MapFS{"definitions/article.yaml": {Data: []byte(text)}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	require.Len(t, machines, 1)
}
