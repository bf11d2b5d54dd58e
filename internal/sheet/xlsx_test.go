package sheet

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

// cases is a workbook with everything that the format is used for.
func cases() *Workbook {
	return &Workbook{
		Title: "Tests <of> order", About: "Generated.",
		Sheets: []*Sheet{
			{
				Name: "All cells", Freeze: 1, Filter: true,
				Columns: []Column{
					{Header: "Case", Width: 30},
					{Header: "Steps", Width: 60, Wrap: true},
					{Header: "Result", Choices: []Choice{{Text: "Pass", Kind: Good}, {Text: "Fail", Kind: Bad}, {Text: `not "run"`}}},
					{Header: "Steps, counted"},
				},
				Rows: slices.Values([][]Cell{
					{Text("=1+1"), Text("one\ntwo"), Text(""), Number(2)},
					{Styled(Reject, "PAID/pay"), Text("_x0041_"), Text(""), Number(1234567890123456)},
				}),
			},
			{Name: "It's Q&A", Columns: []Column{{Header: "a"}}},
		},
	}
}

func open(t *testing.T, wb *Workbook) (*excelize.File, map[string]string) {
	t.Helper()
	file, err := XLSX(wb)
	require.NoError(t, err)
	book, err := excelize.OpenReader(bytes.NewReader(file))
	require.NoError(t, err)
	t.Cleanup(func() { _ = book.Close() })
	packed, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	parts := map[string]string{}
	for _, f := range packed.File {
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		parts[f.Name] = string(content)
		require.True(t, f.Modified.IsZero() || f.Modified.Equal(epoch), "%s is of %s", f.Name, f.Modified)
		requireXML(t, f.Name, parts[f.Name])
	}
	return book, parts
}

func requireXML(t *testing.T, name, content string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(content))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, name)
	}
}

func TestAWorkbookIsReadByAnotherLibrary(t *testing.T) {
	t.Parallel()
	book, _ := open(t, cases())
	require.Equal(t, []string{"All cells", "It's Q&A"}, book.GetSheetList())
	rows, err := book.GetRows("All cells")
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"Case", "Steps", "Result", "Steps, counted"},
		{"=1+1", "one\ntwo", "", "2"},
		{"PAID/pay", "_x0041_", "", "1234567890123456"},
	}, rows)
	formula, err := book.GetCellFormula("All cells", "A2")
	require.NoError(t, err)
	require.Empty(t, formula)
	for cell, want := range map[string]excelize.CellType{"A2": excelize.CellTypeInlineString, "D2": excelize.CellTypeUnset, "D3": excelize.CellTypeInlineString} {
		kind, err := book.GetCellType("All cells", cell)
		require.NoError(t, err)
		require.Equal(t, want, kind, cell)
	}
	panes, err := book.GetPanes("All cells")
	require.NoError(t, err)
	require.True(t, panes.Freeze)
	require.Equal(t, []int{1, 1}, []int{panes.XSplit, panes.YSplit})
	lists, err := book.GetDataValidations("All cells")
	require.NoError(t, err)
	require.Len(t, lists, 1)
	require.Equal(t, "list", lists[0].Type)
	require.Equal(t, "C2:C3", lists[0].Sqref)
	width, err := book.GetColWidth("All cells", "B")
	require.NoError(t, err)
	require.InDelta(t, 60, width, 0)
	properties, err := book.GetDocProps()
	require.NoError(t, err)
	require.Equal(t, "Tests <of> order", properties.Title)
	require.Empty(t, properties.Created)
}

func TestCellsLookLikeTheirKind(t *testing.T) {
	t.Parallel()
	book, parts := open(t, cases())
	_, formats, _ := strings.Cut(parts["xl/styles.xml"], "<cellXfs")
	_, fills, _ := strings.Cut(parts["xl/styles.xml"], "<fills")
	for _, c := range []struct {
		cell, ground       string
		wrap, prefix, bold bool
	}{
		{cell: "A1", ground: "E5E7EB", wrap: true, bold: true},
		{cell: "A2", prefix: true},
		{cell: "B2", wrap: true},
		{cell: "A3", ground: "FFF1F2"},
	} {
		id, err := book.GetCellStyle("All cells", c.cell)
		require.NoError(t, err)
		style, err := book.GetStyle(id)
		require.NoError(t, err)
		require.Equal(t, c.wrap, style.Alignment.WrapText, c.cell)
		require.Equal(t, "top", style.Alignment.Vertical, c.cell)
		require.Equal(t, c.bold, style.Font.Bold, c.cell)

		format := strings.Split(formats, "<xf ")[id+1]
		require.Equal(t, c.prefix, strings.Contains(format, `quotePrefix="1"`), c.cell)
		var fill int
		_, err = fmt.Sscanf(format[strings.Index(format, "fillId="):], `fillId="%d"`, &fill)
		require.NoError(t, err)
		ground := strings.Split(fills, "<fill>")[fill+1]
		if c.ground == "" {
			require.Contains(t, ground, `patternType="none"`, c.cell)
		} else {
			require.Contains(t, ground, `<fgColor rgb="FF`+c.ground+`"/>`, c.cell)
		}
	}
}

func TestWhatASpreadsheetNeedsIsThereInItsOrder(t *testing.T) {
	t.Parallel()
	_, parts := open(t, cases())
	first := parts["xl/worksheets/sheet1.xml"]
	at := 0
	for _, part := range []string{
		`<sheetPr>`,
		`<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>`,
		`<col min="1" max="1" width="30" customWidth="1"/>`,
		`<sheetData><row r="1" ht="30" customHeight="1">`, // "Steps, counted" takes two lines of 12
		`<row r="2" ht="30" customHeight="1">`,
		`<c r="A2" s="1" t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>`,
		`<v>2</v>`,
		`<row r="3">`,
		`_x005F_x0041_`,
		`</sheetData><autoFilter ref="A1:D3"/>`,
		`<conditionalFormatting sqref="C2:C3"><cfRule type="cellIs" dxfId="8" priority="1" operator="equal"><formula>&#34;Pass&#34;</formula></cfRule>`,
		`<dataValidations count="1"><dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="C2:C3"><formula1>&#34;Pass,Fail,not &#34;&#34;run&#34;&#34;&#34;</formula1>`,
		`<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>`,
	} {
		i := strings.Index(first[at:], part)
		require.GreaterOrEqual(t, i, 0, part)
		at += i
	}
	require.NotContains(t, first, "<f>")
	second := parts["xl/worksheets/sheet2.xml"]
	require.Contains(t, second, `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`)
	require.NotContains(t, second, "autoFilter")
	require.NotContains(t, second, "dataValidations")
	require.Contains(t, parts["xl/workbook.xml"], `<definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">&#39;All cells&#39;!$A$1:$D$3</definedName>`)
	require.Contains(t, parts["xl/workbook.xml"], `<definedName name="_xlnm.Print_Titles" localSheetId="1">&#39;It&#39;&#39;s Q&amp;A&#39;!$1:$1</definedName>`)
}

func TestHostileTextsAreReadBackFromXLSX(t *testing.T) {
	t.Parallel()
	var rows [][]Cell
	for _, text := range hostile {
		rows = append(rows, Texts(text, "end"))
	}
	for _, compress := range []bool{false, true} {
		book, _ := open(t, &Workbook{Compress: compress, Sheets: []*Sheet{table(rows...)}})
		got, err := book.GetRows("table")
		require.NoError(t, err)
		for i, text := range hostile {
			require.Equal(t, []string{text, "end"}, got[i+1])
		}
	}
}

func TestALongCellSaysInXLSXThatItIsCut(t *testing.T) {
	t.Parallel()
	book, _ := open(t, &Workbook{Sheets: []*Sheet{table(Texts(strings.Repeat("x", MaxCell+1)), Texts(strings.Repeat("y", MaxCell)))}})
	cut, err := book.GetCellValue("table", "A2")
	require.NoError(t, err)
	require.LessOrEqual(t, len(cut), MaxCell+2) // the ellipsis is one unit and three bytes
	require.True(t, strings.HasSuffix(cut, " of 32768 characters left out]"))
	whole, err := book.GetCellValue("table", "A3")
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("y", MaxCell), whole)
}

func TestAWorkbookIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		wb := cases()
		wb.Compress = compress
		first, err := XLSX(wb)
		require.NoError(t, err)
		for range 19 {
			again, err := XLSX(wb)
			require.NoError(t, err)
			require.True(t, bytes.Equal(first, again))
		}
	}
}

func TestWorkbooksThatCannotBeWrittenAreRefused(t *testing.T) {
	t.Parallel()
	sheet := func(name string, choices ...Choice) *Sheet {
		return &Sheet{Name: name, Columns: []Column{{Header: "a"}, {Header: "b", Choices: choices}}}
	}
	for _, c := range []struct {
		name   string
		sheets []*Sheet
		want   Error
	}{
		{"no sheet", nil, Error{Err: ErrNoSheets}},
		{"bad name", []*Sheet{sheet("a/b")}, Error{Sheet: "a/b", Err: ErrName}},
		{"same name", []*Sheet{sheet("Straße"), sheet("STRASSE"), sheet("straße")}, Error{Sheet: "straße", Err: ErrNameTaken}},
		{"comma", []*Sheet{sheet("a", Choice{Text: "a,b"})}, Error{Sheet: "a", Column: 2, Err: ErrChoices}},
		{"empty choice", []*Sheet{sheet("a", Choice{})}, Error{Sheet: "a", Column: 2, Err: ErrChoices}},
		{"256 units", []*Sheet{sheet("a", Choice{Text: strings.Repeat("x", 127)}, Choice{Text: strings.Repeat("y", 128)})}, Error{Sheet: "a", Column: 2, Err: ErrChoices}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := XLSX(&Workbook{Sheets: c.sheets})
			var got *Error
			require.True(t, errors.As(err, &got), "%v", err)
			require.Equal(t, c.want, *got)
			require.ErrorIs(t, err, c.want.Err)
		})
	}
}

func TestColumnsAreNamedLikeInASpreadsheet(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "A", 26: "Z", 27: "AA", 702: "ZZ", 703: "AAA", MaxColumns: "XFD"} {
		require.Equal(t, want, columnName(n))
	}
}

// failing is a writer that takes no more than so many bytes.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAWritersErrorIsHandedOn(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		wb := cases()
		wb.Compress = compress
		require.ErrorIs(t, WriteXLSX(&failing{left: 100}, wb), errFull)
	}
	require.ErrorIs(t, WriteCSV(&failing{}, cases().Sheets[0], Importer), errFull)
}
