package genmatrix

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/model"
)

// elements are all of a name below a node, in order.
func elements(n *html.Node, name string) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			found = append(found, d)
		}
	}
	return found
}

// text is what a node shows; <br> and <div> break lines.
func text(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Data == "br":
			b.WriteString("\n")
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func parse(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	return doc
}

// htmlCells reads the matrix back by its attributes, one line a way.
func htmlCells(t *testing.T, page string) map[cellKey]string {
	t.Helper()
	got := map[cellKey]string{}
	for _, td := range elements(parse(t, page), "td") {
		state, event := attr(td, "data-state"), attr(td, "data-event")
		if attr(td, "data-kind") == "" {
			continue
		}
		key := cellKey{state, event}
		require.NotContains(t, got, key)
		var lines []string
		for part := range td.ChildNodes() {
			if part.Type == html.ElementNode {
				lines = append(lines, strings.Replace(text(part), " emits ", ", emits ", 1))
			}
		}
		got[key] = strings.Join(lines, "\n")
	}
	return got
}

func TestHTMLIsReadBack(t *testing.T) {
	t.Parallel()
	for _, path := range paths(t) {
		m := read(t, path)
		got := htmlCells(t, render(t, m, "html", "en")[m.Name+".html"])
		for key, cell := range got {
			got[key] = withoutDue(cell)
		}
		requireCells(t, m, got, func(c *model.Cell) string { return wants(c, described, true) })
	}
}

func TestTheTableCanBeReadWithoutEyes(t *testing.T) {
	t.Parallel()
	doc := parse(t, render(t, read(t, "../../definitions/order.yaml"), "html", "zh")["order.html"])
	require.Equal(t, "zh", attr(elements(doc, "html")[0], "lang"))
	table := elements(doc, "table")[0]
	require.Equal(t, "order：状态 × 事件矩阵", text(elements(table, "caption")[0]))
	columns := elements(elements(table, "thead")[0], "th")
	require.Len(t, columns, 9)
	for _, th := range columns {
		require.Equal(t, "col", attr(th, "scope"))
	}
	rows := elements(elements(table, "tbody")[0], "tr")
	require.Len(t, rows, 12)
	for _, tr := range rows {
		require.Len(t, elements(tr, "th"), 1)
		require.Equal(t, "row", attr(elements(tr, "th")[0], "scope"))
		require.NotEmpty(t, attr(elements(tr, "th")[0], "data-event"))
		require.Len(t, elements(tr, "td"), 8)
	}
	require.Equal(t, "PENDING", attr(columns[1], "data-state"))
	require.Equal(t, "PENDING 待支付 初始 ⏱ 30 分钟后：expire", text(columns[1]))
}

// A cell has its kind as a class, and in words.
func TestColourIsNeverAlone(t *testing.T) {
	t.Parallel()
	doc := parse(t, render(t, read(t, "../../definitions/order.yaml"), "html", "en")["order.html"])
	kinds := map[string]int{}
	for _, td := range elements(doc, "td") {
		if kind := attr(td, "data-kind"); kind != "" {
			kinds[kind]++
			require.Equal(t, "pawl-"+kind, attr(td, "class"))
			require.NotEmpty(t, strings.TrimSpace(text(td)))
		}
	}
	require.Equal(t, map[string]int{"moves": 10, "guarded": 9, "compensate": 17, "replay": 5, "ignore": 28, "reject": 27}, kinds)
	for kind := range kinds {
		require.Contains(t, string(Style()), ".pawl-"+kind+" {")
	}
}

// The page needs nothing from elsewhere, and runs no other script than its own,
// whatever a machine's names and words are.
func TestThePageStandsAloneAndRunsItsOwnScriptOnly(t *testing.T) {
	t.Parallel()
	for _, path := range paths(t) {
		m := read(t, path)
		page := render(t, m, "html", "en")[m.Name+".html"]
		doc := parse(t, page)
		scripts := elements(doc, "script")
		require.Len(t, scripts, 1)
		require.Equal(t, string(Script()), text(scripts[0]))
		sum := sha256.Sum256([]byte(text(scripts[0])))
		var policy string
		for _, meta := range elements(doc, "meta") {
			if attr(meta, "http-equiv") == "Content-Security-Policy" {
				policy = attr(meta, "content")
			}
		}
		require.Equal(t, "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", policy)
		for _, name := range []string{"link", "img", "iframe", "a", "form"} {
			require.Empty(t, elements(doc, name), name)
		}
		for d := range doc.Descendants() {
			for _, a := range d.Attr {
				require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href", "%s %s", d.Data, a.Key)
			}
		}
	}
}

// Without its script the page shows everything but the search field.
func TestThePageWorksWithoutItsScript(t *testing.T) {
	t.Parallel()
	doc := parse(t, render(t, read(t, "../../definitions/order.yaml"), "html", "en")["order.html"])
	for d := range doc.Descendants() {
		for _, a := range d.Attr {
			if a.Key == "hidden" {
				require.Equal(t, "pawl-search", attr(d, "class"))
			}
		}
	}
	for _, b := range elements(doc, "button") {
		require.NotEmpty(t, attr(b, "title"))
	}
	// The script takes every section of the class for a matrix with a search field.
	for _, section := range elements(doc, "section") {
		if attr(section, "class") == "pawl-matrix" {
			require.Equal(t, "pawl-search", attr(elements(section, "input")[0], "class"))
			require.Len(t, elements(section, "output"), 1)
			require.Len(t, elements(section, "table"), 1)
		}
	}
}

func TestTheTableIsAPieceOfAPage(t *testing.T) {
	t.Parallel()
	m := read(t, "testdata/hostile.yaml")
	fragment, err := Table(m, "en")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(fragment), `<section class="pawl-matrix" data-machine="hostile">`))
	require.Contains(t, render(t, m, "html", "en")["hostile.html"], string(fragment))
	require.NotContains(t, string(fragment), "<script")
}
