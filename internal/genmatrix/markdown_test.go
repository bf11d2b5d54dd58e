package genmatrix

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/model"
)

// rendered is the page that a Markdown program makes of the file.
func rendered(t *testing.T, md string) *xhtml.Node {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(md), &b))
	page, err := xhtml.Parse(&b)
	require.NoError(t, err)
	return page
}

// mdTables are the tables of a file as texts, line by line.
func mdTables(t *testing.T, md string) [][][]string {
	t.Helper()
	var tables [][][]string
	for _, table := range elements(rendered(t, md), "table") {
		var lines [][]string
		for _, tr := range elements(table, "tr") {
			var line []string
			for cell := range tr.ChildNodes() {
				if cell.Data == "td" || cell.Data == "th" {
					line = append(line, text(cell))
				}
			}
			lines = append(lines, line)
		}
		tables = append(tables, lines)
	}
	return tables
}

// mdCells reads the matrix back; its tables are the first ones.
func mdCells(t *testing.T, md string, m *model.Machine) map[cellKey]string {
	t.Helper()
	got := map[cellKey]string{}
	across := len(m.States) <= len(m.Events)
	for _, lines := range mdTables(t, md) {
		if lines[0][0] != "event ↓ · state →" && lines[0][0] != "state ↓ · event →" {
			continue
		}
		for _, line := range lines[1:] {
			for i, cell := range line[1:] {
				row, _, _ := strings.Cut(line[0], "\n")
				column, _, _ := strings.Cut(lines[0][i+1], "\n")
				key := cellKey{state: row, event: column}
				if across {
					key = cellKey{state: column, event: row}
				}
				require.NotContains(t, got, key)
				got[key] = cell
			}
		}
	}
	return got
}

func TestMarkdownIsReadBack(t *testing.T) {
	t.Parallel()
	for _, path := range paths(t) {
		m := read(t, path)
		got := mdCells(t, render(t, m, "md", "en")[m.Name+".md"], m)
		for key, cell := range got {
			got[key] = withoutDue(cell)
		}
		requireCells(t, m, got, func(c *model.Cell) string { return wants(c, named, false) })
	}
}

func TestMarkdownRunsNothing(t *testing.T) {
	t.Parallel()
	m := read(t, "testdata/hostile.yaml")
	for _, lang := range []string{"en", "zh"} {
		page := rendered(t, render(t, m, "md", lang)["hostile.md"])
		for _, name := range []string{"script", "b", "i", "img", "code", "del"} {
			require.Empty(t, elements(page, name), name)
		}
		for _, a := range elements(page, "a") {
			require.Equal(t, "https://example.com", text(a)) // a name that is an address is one
		}
		require.Equal(t, "Names and words | that *other* <b>programs</b> fell over.\nSecond line; =1+1", text(elements(page, "p")[0]))
	}
}

func TestWideMatricesComeInParts(t *testing.T) {
	t.Parallel()
	m := square(40)
	md := render(t, m, "md", "en")["square.md"]
	require.Contains(t, md, "## Matrix, part 1 of 4\n")
	require.Contains(t, md, "## Matrix, part 4 of 4\n")
	requireCells(t, m, mdCells(t, md, m), func(c *model.Cell) string { return wants(c, named, false) })
	for _, lines := range mdTables(t, md)[:4] {
		require.Len(t, lines[0], 11)
	}
}

func TestMarkdownExplainsWhatItNames(t *testing.T) {
	t.Parallel()
	md := render(t, read(t, "../../definitions/order.yaml"), "md", "en")["order.md"]
	for _, line := range []string{
		"8 states × 12 events = 96 cells",
		"| guarded    | 9     |",
		"| PENDING   | Awaiting payment    | initial |",
		"| refund_is_part | something is left after this refund  | refund_cents + @amount_cents &lt; paid_cents |",
		"| payment_succeeded | PENDING, PAYING          | amount_matches | PAID      | paid_cents = @paid_cents, payment_no = @payment_no, paid_at = now() | order_paid",
	} {
		require.Contains(t, md, line)
	}
	zh := render(t, read(t, "../../definitions/order.yaml"), "md", "zh")["order.md"]
	require.Contains(t, zh, "# order：状态 × 事件矩阵")
	require.Contains(t, zh, "PENDING<br>待支付<br>*初始*")
	require.Contains(t, zh, "否则补偿：refund_due")
}

func TestMarkdownTextsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"payment_succeeded": "payment_succeeded", // reads well raw
		"_private_":         `\_private\_`,
		"a|b":               `a\|b`,
		"# a":               `\# a`,
		"a # b":             "a # b",
		"AT&T & &amp;":      "AT&amp;T & &amp;amp;",
		"<br>":              "&lt;br&gt;",
		" a ":               "&#32;a&#32;",
		"a\nb":              "a<br>b",
		"\x07":              "␇",
	} {
		require.Equal(t, want, mdText(text))
	}
	require.Equal(t, "a - - &gt; b", mdComment("a --> b"))
}
