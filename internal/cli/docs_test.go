package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	require.NoError(t, err)
	return string(text)
}

// docs/commands.md names every verb, and every flag of each, as the help does.
func TestTheCommandsPageHasEveryVerbAndFlag(t *testing.T) {
	t.Parallel()
	text := page(t, "docs/commands.md")
	_, help, _ := run("-h")
	verbs := regexp.MustCompile(`(?m)^  fsmgen ([\w-]+)`).FindAllStringSubmatch(help, -1)
	require.NotEmpty(t, verbs)
	for _, verb := range verbs {
		require.Regexp(t, `(?m)^## .*\b`+verb[1]+`\b`, text)
		_, flags, _ := run(verb[1], "-h")
		names := regexp.MustCompile(`(?m)^  (--?\w[\w-]*)`).FindAllStringSubmatch(flags, -1)
		require.NotEmpty(t, names, verb[1]) // -C at least
		for _, name := range names {
			require.Contains(t, text, "`"+name[1], "%s of %s", name[1], verb[1])
		}
	}
}

// The README names every page of the documentation.
func TestTheReadmeNamesEveryPage(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	readme := page(t, "README.md")
	for _, p := range pages {
		require.Contains(t, readme, "(docs/"+filepath.Base(p)+")")
	}
}

// What links from page to page leads somewhere.
func TestLinksBetweenPagesLead(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([\w-]+\.md)(?:#([\w-]+))?\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	for _, p := range pages {
		for _, l := range link.FindAllStringSubmatch(page(t, "docs/"+filepath.Base(p)), -1) {
			target := page(t, "docs/"+l[1])
			anchors := []string{""}
			for _, h := range heading.FindAllStringSubmatch(target, -1) {
				anchors = append(anchors, strings.ReplaceAll(strings.ToLower(regexp.MustCompile(`[^\w -]`).ReplaceAllString(h[1], "")), " ", "-"))
			}
			require.Contains(t, anchors, l[2], "%s links to %s", p, l[0])
		}
	}
}
