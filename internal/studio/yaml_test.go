package studio

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// A line of any length is shown as far as a person reads it, and says that there is more.
func TestALongLineIsCut(t *testing.T) {
	t.Parallel()
	line := "key: " + strings.Repeat("a", 30<<20)
	shown := spans([]byte(line), []diag.Position{{Line: 1, Col: len(line)}})
	var text strings.Builder
	for _, s := range shown {
		text.WriteString(s.Text)
	}
	require.Equal(t, line[:maxLine]+"… +31453189 B", text.String())
	require.Equal(t, span{"key", "key"}, shown[0])
	require.Less(t, len(shown), 6)
}
