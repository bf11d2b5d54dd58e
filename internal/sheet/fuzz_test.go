package sheet

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

// openings begin a formula, or end a cell in a program that was told so.
const openings = "=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B"

// FuzzSheet: whatever is in the cells, another program reads the same texts back, in
// the same cells, and none is a formula.
func FuzzSheet(f *testing.F) {
	for _, seed := range [][3]string{
		{"=1+1", "a\tb", "All cells"}, {"_x0041_", "\x01\x1f", "It's"}, {"a,b;\"c\"", "a\r\nb\rc\n", "History"}, {"'=1", " =1", "a:b/c"}, {"\ufffe\uffff", "\xff\xfe", ""},
		{"@SUM(A1)", "-1", "+1"}, {"<b>&amp;</b>", "]]>", "'a'"}, {"_x000D_\r", "__x0041_", strings.Repeat("n", 40)}, {"1e5", "TRUE", "[x]"}, {strings.Repeat("\U0001F600", 20000), "", "\U0001F600"}, {"\u200b=1", "a;\u00a0+1", "a\nb"},
	} {
		f.Add(seed[0], seed[1], seed[2], int64(7))
	}
	f.Add("", "", "x", int64(-1)<<62)
	f.Fuzz(func(t *testing.T, first, second, name string, number int64) {
		var names Names
		s := &Sheet{Name: names.Make(name), Filter: true, Columns: []Column{{Header: first, Wrap: true}, {Header: second}, {Header: "n"}}}
		s.Rows = slices.Values([][]Cell{{Text(first), Styled(Good, second), Number(number)}, Texts(second, first), nil})
		want := [][]string{{first, second, "n"}, {first, second, Number(number).Text}, {second, first, ""}, {"", "", ""}}

		book, err := XLSX(&Workbook{Title: first, About: second, Sheets: []*Sheet{s}})
		require.NoError(t, err)
		again, err := XLSX(&Workbook{Title: first, About: second, Sheets: []*Sheet{s}})
		require.NoError(t, err)
		require.Equal(t, book, again)
		readBack(t, book, s.Name, want)
		for _, flavour := range []Flavour{Excel, Importer} {
			content, err := CSV(s, flavour)
			require.NoError(t, err)
			separated(t, content, flavour, want)
		}
	})
}

// readBack opens a workbook as another program does.
func readBack(t *testing.T, content []byte, name string, want [][]string) {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(content))
	require.NoError(t, err)
	defer func() { _ = book.Close() }()
	require.Equal(t, []string{name}, book.GetSheetList())
	for y, row := range want {
		for x, text := range row {
			cell, err := excelize.CoordinatesToCellName(x+1, y+1)
			require.NoError(t, err)
			have, err := book.GetCellValue(name, cell)
			require.NoError(t, err)
			require.Equal(t, Fit(Clean(text), MaxCell), have, cell)
			formula, err := book.GetCellFormula(name, cell)
			require.NoError(t, err)
			require.Empty(t, formula)
			leads, _, err := book.GetCellHyperLink(name, cell)
			require.NoError(t, err)
			require.False(t, leads)
		}
	}
}

// separated reads a file of CSV by the standard library.
func separated(t *testing.T, content []byte, flavour Flavour, want [][]string) {
	t.Helper()
	if flavour == Excel {
		require.True(t, bytes.HasPrefix(content, []byte("\uFEFF")))
		content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	}
	have, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	require.NoError(t, err)
	require.Len(t, have, len(want))
	for y, row := range have {
		require.Len(t, row, len(want[y]))
		for x, text := range row {
			original := Clean(want[y][x])
			if y == 1 && x == 2 {
				require.Equal(t, original, text) // a number is no text
				continue
			}
			fitted := Neutral(original)
			if flavour == Excel {
				fitted = Fit(fitted, MaxCell)
			} else {
				require.Equal(t, original, Original(text))
			}
			require.Equal(t, fitted, text)
			if text != "" {
				require.NotContains(t, openings, string([]rune(text)[:1]))
			}
		}
	}
}
