package acceptance

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every piece of Go on these pages stands in the file beside it too, and so it
// compiles.
func TestPagesShowCodeThatCompiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		page, source string
		pieces       int
	}{
		{"choosing.md", "choosing_test.go", 14},
		{"callbacks.md", "callbackpage_test.go", 4},
		{"idempotent-commands.md", "commandpage_test.go", 9},
		{"consumers.md", "consumerpage_test.go", 7},
		{"provider-calls.md", "providerpage_test.go", 8},
		{"observability.md", "observabilitypage_test.go", 6},
		{"histories.md", "historypage_test.go", 2},
	} {
		code := unindented(t, tc.source)
		blocks := strings.Split(unindented(t, "../../docs/"+tc.page), "```go\n")[1:]
		require.Len(t, blocks, tc.pieces, tc.page)
		for _, block := range blocks {
			block, _, ended := strings.Cut(block, "```")
			require.True(t, ended, tc.page)
			require.Contains(t, code, block, tc.page)
		}
	}
}

// unindented is a file without the space at the ends of its lines.
func unindented(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}
