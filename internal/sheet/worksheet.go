package sheet

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// writeSheet writes a sheet's part, its elements in the order that the format
// wants, and returns the number of its last row, at least 1.
func writeSheet(b *bufio.Writer, s *Sheet) (int, error) {
	b.WriteString(xmlHead + `<worksheet xmlns="` + nsMain + `"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`)
	writeView(b, s)
	b.WriteString(`<sheetFormatPr defaultRowHeight="15"/><cols>`)
	for i, c := range s.Columns {
		fmt.Fprintf(b, `<col min="%d" max="%d" width="%s" customWidth="1"/>`, i+1, i+1, strconv.FormatFloat(width(c), 'f', -1, 64))
	}
	b.WriteString(`</cols><sheetData>`)
	last, err := writeRows(b, s)
	if err != nil {
		return 0, err
	}
	b.WriteString(`</sheetData>`)
	if s.Filter {
		fmt.Fprintf(b, `<autoFilter ref="A1:%s%d"/>`, columnName(len(s.Columns)), last)
	}
	writeChoices(b, s, max(last, 2))
	b.WriteString(`<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>` +
		`<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/></worksheet>`)
	return last, nil
}

// writeView freezes the header and the first columns.
func writeView(b *bufio.Writer, s *Sheet) {
	frozen := min(max(s.Freeze, 0), len(s.Columns)-1)
	corner, pane := "A2", "bottomLeft"
	split := ""
	if frozen > 0 {
		split = fmt.Sprintf(` xSplit="%d"`, frozen)
		corner, pane = columnName(frozen+1)+"2", "bottomRight"
	}
	fmt.Fprintf(b, `<sheetViews><sheetView workbookViewId="0"><pane%s ySplit="1" topLeftCell="%s" activePane="%s" state="frozen"/>`, split, corner, pane)
	if frozen > 0 {
		b.WriteString(`<selection pane="topRight"/><selection pane="bottomLeft"/>`)
	}
	fmt.Fprintf(b, `<selection pane="%s" activeCell="%s" sqref="%s"/></sheetView></sheetViews>`, pane, corner, corner)
}

func width(c Column) float64 {
	const usual, most = 12, 255
	if c.Width <= 0 {
		return usual
	}
	return min(c.Width, most)
}

// writeRows writes the header and the rows and returns the last one's number.
func writeRows(b *bufio.Writer, s *Sheet) (int, error) {
	names, header := make([]string, len(s.Columns)), make([]Cell, len(s.Columns))
	for i, c := range s.Columns {
		names[i], header[i] = columnName(i+1), Styled(c.Kind, c.Header)
		if c.Kind == Plain {
			header[i].Kind = Header
		}
	}
	s.writeRow(b, names, 1, header)
	n := 1
	for row := range s.rows() {
		n++
		if err := s.checkRow(n, row, true); err != nil {
			return 0, err
		}
		s.writeRow(b, names, n, row)
	}
	return n, nil
}

// writeRow writes a row as high as its lines: not every spreadsheet measures
// them when it opens a file.
func (s *Sheet) writeRow(b *bufio.Writer, names []string, n int, row []Cell) {
	const highest = 409 // points
	b.WriteString(`<row r="` + strconv.Itoa(n))
	points := 0
	for i, c := range row {
		if lines := height(c.Text, width(s.Columns[i]), n == 1 || s.Columns[i].Wrap); lines > 1 {
			points = max(points, lines*lineHeight(c.Text))
		}
	}
	if points > 0 {
		b.WriteString(`" ht="` + strconv.Itoa(min(points, highest)) + `" customHeight="1`)
	}
	b.WriteString(`">`)
	for i, c := range row {
		writeCell(b, names[i], n, c, n == 1 || s.Columns[i].Wrap)
	}
	b.WriteString(`</row>`)
}

// lineHeight is that of a line of the text, in points: the fonts that have the
// characters of East Asia, and pictures, are taller.
func lineHeight(text string) int {
	if Shown(text) > utf8.RuneCountInString(text) {
		return 18
	}
	return 15
}

// height is how many lines a text takes in a column of that width, about: where
// lines break is the spreadsheet's and its font's.
func height(text string, width float64, wrap bool) int {
	const letter = 1.05 // of the width of a digit
	if !wrap && !strings.Contains(text, "\n") {
		return 1
	}
	lines := 0
	for part := range strings.SplitSeq(text, "\n") {
		lines += max(1, int(math.Ceil(float64(Shown(part))*letter/max(1, width-1))))
	}
	return lines
}

// writeCell writes a number as a number and everything else as a string.
func writeCell(b *bufio.Writer, column string, row int, c Cell, wrap bool) {
	exact := c.exact()
	text := c.Text
	if !exact {
		text = Fit(Clean(text), MaxCell)
		wrap = wrap || strings.Contains(text, "\n")
	}
	b.WriteString(`<c r="` + column + strconv.Itoa(row) + `" s="` + strconv.Itoa(styleOf(c.Kind, wrap, !exact && runs(text, true))))
	switch {
	case exact:
		b.WriteString(`"><v>` + text + `</v></c>`)
	case text == "":
		b.WriteString(`"/>`)
	default:
		b.WriteString(`" t="inlineStr"><is><t xml:space="preserve">` + escape(text) + `</t></is></c>`)
	}
}

// writeChoices writes the looks that choices take on and the drop-downs, in this
// order, for the rows 2 to last.
func writeChoices(b *bufio.Writer, s *Sheet, last int) {
	var lists strings.Builder
	count, priority := 0, 0
	for i, c := range s.Columns {
		if len(c.Choices) == 0 {
			continue
		}
		count++
		place := fmt.Sprintf("%s2:%s%d", columnName(i+1), columnName(i+1), last)
		texts := make([]string, len(c.Choices))
		var rules strings.Builder
		for j, choice := range c.Choices {
			texts[j] = choice.Text
			if choice.Kind > Plain && choice.Kind < kinds {
				priority++
				fmt.Fprintf(&rules, `<cfRule type="cellIs" dxfId="%d" priority="%d" operator="equal"><formula>%s</formula></cfRule>`, choice.Kind, priority, literal(choice.Text))
			}
		}
		if rules.Len() > 0 {
			fmt.Fprintf(b, `<conditionalFormatting sqref="%s">%s</conditionalFormatting>`, place, rules.String())
		}
		fmt.Fprintf(&lists, `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="%s"><formula1>%s</formula1></dataValidation>`, place, literal(strings.Join(texts, ",")))
	}
	if count > 0 {
		fmt.Fprintf(b, `<dataValidations count="%d">%s</dataValidations>`, count, lists.String())
	}
}

// literal is a text as a constant of a formula.
func literal(text string) string {
	return escape(`"` + strings.ReplaceAll(text, `"`, `""`) + `"`)
}

// columnName is the letters of a column that counts from 1: A, Z, AA, XFD.
func columnName(n int) string {
	name := ""
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// coded is what a reader of the format takes for the code of a character.
var coded = regexp.MustCompile(`^_x[0-9A-Fa-f]{4}_`)

// escape makes a text safe within XML and within the format's strings, where
// _x0041_ would be read as A. Line breaks stay as they are.
func escape(text string) string { return marks.Replace(uncoded(Clean(text))) }

// marks are what XML takes for its own, and the blanks that it would change.
var marks = strings.NewReplacer(`"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\t", "&#x9;")

// uncoded writes the underscore that begins a code as the code of an underscore.
func uncoded(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '_' && coded.MatchString(text[i:min(i+7, len(text))]) {
			b.WriteString("_x005F")
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
