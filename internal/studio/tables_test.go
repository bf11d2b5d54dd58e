package studio

import (
	"path"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// tables finds the frames of tables: what is too wide for a phone slides in them, which
// a key must be able to do, too, and a reader of the screen be told what it is.
var tables = regexp.MustCompile(`<div class="table[^"]*"[^>]*>`)

func TestEveryTableIsReachedByKey(t *testing.T) {
	t.Parallel()
	entries, err := embedded.ReadDir("assets")
	require.NoError(t, err)
	for _, e := range entries {
		if path.Ext(e.Name()) != ".html" {
			continue
		}
		text, err := embedded.ReadFile("assets/" + e.Name())
		require.NoError(t, err)
		for _, frame := range tables.FindAllString(string(text), -1) {
			require.Regexp(t, `tabindex="0" role="region" aria-label(ledby)?="`, frame, e.Name())
		}
	}
}
