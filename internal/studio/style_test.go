package studio

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/gensvg"
)

// rule finds what the selectors of a style begin with.
var rule = regexp.MustCompile(`(?:^|[,}]\s*|\n\s*)([.#][a-z][a-z_-]*)[^.a-z_-]`)

// classes finds those of a template's elements, and actions what is none of them.
var (
	classes = regexp.MustCompile(`class="((?:\{\{.*?\}\}|[^"{])*)"`)
	actions = regexp.MustCompile(`\{\{.*?\}\}`)
)

// within finds the selectors between brackets, where they do not begin one.
var within = regexp.MustCompile(`([^\s},]\s?):(?:is|has|not|where)\([^()]*\)`)

func styled(css string) map[string]bool {
	seen := map[string]bool{}
	for _, m := range rule.FindAllStringSubmatch(within.ReplaceAllString(css, "$1"), -1) {
		seen[m[1]] = true
	}
	return seen
}

// All pages load one style: a class that one part styles must not be another part's.
func TestPartsStyleTheirOwnClasses(t *testing.T) {
	t.Parallel()
	entries, err := embedded.ReadDir("assets")
	require.NoError(t, err)
	of := map[string][]string{}
	frame, err := embedded.ReadFile("assets/studio.css")
	require.NoError(t, err)
	everybodys := styled(gendocs.Style() + gensvg.Style(gensvg.Auto) + string(frame))
	for _, e := range entries {
		if path.Ext(e.Name()) != ".css" || e.Name() == "studio.css" {
			continue
		}
		text, err := embedded.ReadFile("assets/" + e.Name())
		require.NoError(t, err)
		seen := styled(string(text))
		maps.DeleteFunc(seen, func(class string, _ bool) bool { return everybodys[class] })
		require.NotEmpty(t, seen, e.Name())
		for class := range seen {
			of[class] = append(of[class], e.Name())
		}
	}
	pages, err := embedded.ReadDir("assets")
	require.NoError(t, err)
	for _, e := range pages {
		if path.Ext(e.Name()) != ".html" || e.Name() == "frame.html" {
			continue
		}
		text, err := embedded.ReadFile("assets/" + e.Name())
		require.NoError(t, err)
		for _, m := range classes.FindAllStringSubmatch(string(text), -1) {
			for _, class := range strings.Fields(actions.ReplaceAllString(m[1], " ")) {
				for _, style := range of["."+class] {
					require.True(t, strings.HasPrefix(e.Name(), strings.TrimSuffix(style, ".css")), "%s has the class %s of %s", e.Name(), class, style)
				}
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(of)) {
		require.Len(t, of[class], 1, "%s is styled by %v", class, of[class])
	}
}
