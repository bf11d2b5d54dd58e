package pipeline_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pipeline"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// docs/rules.md documents every code.
func TestRulesPageIsCurrent(t *testing.T) {
	t.Parallel()
	all, err := pipeline.Explain()
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("# Problem codes\n\n" +
		"What `fsmgen` reports: for each code its cause and remedy, a definition that fails with what is then told, and one that passes.\n" +
		"`fsmgen lint --explain CODE` prints the same. A warning does not stop generation; a rule that can be waived may be\n" +
		"silenced in one part of a definition, with a reason: see [waive](definition.md#waive). In the cases, what cannot be seen is spelt out,\n" +
		"as `\\u202e` and `\\xe9`.\n\n| code | severity | what |\n| --- | --- | --- |\n")
	for _, e := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", e.Code, strings.ToLower(string(e.Code)), e.Severity, strings.ReplaceAll(e.Short, "|", `\|`))
	}
	for _, e := range all {
		section(&b, e)
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

func section(b *strings.Builder, e pipeline.Explanation) {
	waive := "cannot be waived"
	if e.Waivable {
		waive = "can be waived"
	}
	fmt.Fprintf(b, "\n## %s\n\n**%s** (%s, %s)\n\n%s\n\n%s\n", e.Code, e.Short, e.Severity, waive, e.Cause, e.Fix)
	if e.Bad.Name != "" {
		fmt.Fprintf(b, "\nFails%s:\n", history(e.Bad))
		files(b, e.Bad)
		fmt.Fprintf(b, "\n```text\n%s```\n", e.Bad.ShownProblems())
	}
	if e.Good.Name != "" {
		fmt.Fprintf(b, "\nPasses%s:\n", history(e.Good))
		files(b, e.Good)
	}
}

func history(c pipeline.Case) string {
	if c.History() == "" {
		return ""
	}
	return ", " + c.History()
}

func files(b *strings.Builder, c pipeline.Case) {
	for _, f := range c.Files {
		if len(c.Files) > 1 {
			fmt.Fprintf(b, "\n`%s`\n", f.Name)
		}
		fmt.Fprintf(b, "\n```%s\n%s```\n", strings.TrimPrefix(path.Ext(f.Name), "."), f.Shown())
	}
}
