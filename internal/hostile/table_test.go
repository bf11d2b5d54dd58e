package hostile

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

var number = regexp.MustCompile(`^-?[0-9]+$`)

// holdsCSV reads a file back: all records are as long as the first, and no cell is a
// formula to a spreadsheet.
func holdsCSV(t testing.TB, name string, content []byte) {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\uFEFF")))).ReadAll()
	require.NoError(t, err, name)
	for _, record := range records {
		for _, cell := range record {
			if cell != "" && !number.MatchString(cell) {
				require.NotContains(t, "=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20", string([]rune(cell)[:1]), "%s: %q", name, cell)
			}
		}
	}
}

// holdsXLSX opens a workbook: no cell is a formula or leads anywhere.
func holdsXLSX(t testing.TB, name string, content []byte) {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(content))
	require.NoError(t, err, name)
	defer func() { _ = book.Close() }()
	for _, sheet := range book.GetSheetList() {
		rows, err := book.GetRows(sheet)
		require.NoError(t, err)
		for y, row := range rows {
			for x := range row {
				cell, err := excelize.CoordinatesToCellName(x+1, y+1)
				require.NoError(t, err)
				formula, err := book.GetCellFormula(sheet, cell)
				require.NoError(t, err)
				require.Empty(t, formula, "%s %s", name, cell)
				leads, _, err := book.GetCellHyperLink(sheet, cell)
				require.NoError(t, err)
				require.False(t, leads, "%s %s", name, cell)
			}
		}
	}
}

// holdsFeature has Gherkin's own parser read a feature, with a scenario for each case.
func holdsFeature(t testing.TB, name string, content []byte, cases int) {
	t.Helper()
	document, err := gherkin.ParseGherkinDocument(bytes.NewReader(content), (&messages.Incrementing{}).NewId)
	require.NoError(t, err, "%s", content)
	require.NotNil(t, document.Feature, name)
	require.Len(t, document.Feature.Children, cases)
	for _, child := range document.Feature.Children {
		require.NotNil(t, child.Scenario)
		require.Empty(t, child.Scenario.Examples)
		require.Len(t, child.Scenario.Tags, 1)
	}
	require.Empty(t, strings.Trim(document.Feature.Language, "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}
