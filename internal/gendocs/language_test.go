package gendocs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// names may stand in English on a Chinese page: what the machine, the runtime,
// languages, tools and formats are called.
var names = regexp.MustCompile(`^(?:[a-z]\d|S\d|m1|t1|` + // of chinese.yaml
	`all|cells|switch|n|plus|tour|closed|walks|races|guards|N|` + // suites
	`Applied|Replayed|Ignored|Compensated|Rejected|GuardFailed|Stale|Mismatched|` +
	`SQL|NULL|EN|Esc|fsmgen|docs|chinese|yaml|Go|FSM\d+|amount_matches|refund_due|` +
	`SVG|Mermaid|Graphviz|PlantUML|Markdown|HTML|CSV|Excel|Gherkin|Xray|Zephyr|Scale|TestRail|` +
	`text|bigint|integer|timestamptz|status|version|deadline_at|deadline_runs|now|b|uuid|` +
	`b|first)$`)

// ids are those of cases.
var ids = regexp.MustCompile(`^m1/\S.*$`)

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// A Chinese page has no English phrase: no two words beside each other, and no
// word at all but names.
func TestChinesePagesAreChinese(t *testing.T) {
	t.Parallel()
	set := rendered(t, map[string]string{"chinese.yaml": definition(t, "chinese.yaml")}, map[string]string{
		"chinese.yaml": strings.NewReplacer("after: 30m", "after: 1h", "c1 >= 0", "c1 > 0").Replace(definition(t, "chinese.yaml")),
	})
	for _, p := range pages(t, set) {
		if !strings.HasPrefix(p.path, "zh/") {
			continue
		}
		for _, text := range read(p.root) {
			for _, w := range word.FindAllString(ids.ReplaceAllString(text, ""), -1) {
				assert.Regexp(t, names, w, "%s: %s", p.path, text)
			}
		}
	}
}

// An English page has no Chinese phrase: what is Chinese on it is of the
// definition, or in an element that says so.
func TestEnglishPagesAreEnglish(t *testing.T) {
	t.Parallel()
	han := regexp.MustCompile(`\p{Han}`)
	set := rendered(t, map[string]string{"payment.yaml": ours(t)["payment.yaml"]}, nil)
	for _, p := range pages(t, set) {
		if !strings.HasPrefix(p.path, "en/") {
			continue
		}
		for _, text := range read(p.root) {
			require.NotRegexp(t, han, text, p.path)
		}
	}
}

// read returns all that a person reads or hears of a page in its own language.
func read(n *html.Node) []string {
	if _, ok := attr(n, "lang"); ok && n.Data != "html" && n.Data != "svg" {
		return nil
	}
	var texts []string
	switch {
	case n.Type == html.TextNode:
		return []string{n.Data}
	case slices.Contains([]string{"script", "style", "pre", "code"}, n.Data):
		return nil
	}
	for _, key := range []string{"aria-label", "title", "placeholder", "data-idle", "data-count", "data-pinned", "data-of", "data-cells", "data-cases", "data-text"} {
		if text, ok := attr(n, key); ok {
			texts = append(texts, text)
		}
	}
	for child := range n.ChildNodes() {
		texts = append(texts, read(child)...)
	}
	return texts
}
