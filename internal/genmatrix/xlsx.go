package genmatrix

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/wording"
)

// workbook renders the matrix, the cells as a list, the tables beside them and
// the legend.
func workbook(v view) ([]byte, error) {
	list := v.wayList()
	sheets := []*sheet.Sheet{v.matrixSheet(), list}
	names := []string{v.say(matrix), v.say(cells)}
	for _, t := range v.tables() {
		sheets = append(sheets, v.tableSheet(t))
		names = append(names, v.say(t.title))
	}
	sheets = append(sheets, v.legendSheet())
	names = append(names, v.say(legend))

	var taken sheet.Names
	for i, s := range sheets {
		s.Name = taken.Make(names[i])
	}
	return sheet.XLSX(&sheet.Workbook{
		Title: v.say(title, v.Name), About: generated, Sheets: sheets,
		Compress: len(v.States)*len(v.Events) > 10_000,
	})
}

// matrixSheet is the matrix as it is drawn: one column a state, or an event,
// whichever are fewer.
func (v view) matrixSheet() *sheet.Sheet {
	s := &sheet.Sheet{Freeze: 1, Columns: []sheet.Column{{Header: v.corner(), Width: 26, Wrap: true}}}
	for _, h := range v.columns() {
		s.Columns = append(s.Columns, sheet.Column{Header: v.headText(h), Width: 28, Wrap: true})
	}
	s.Rows = func(yield func([]sheet.Cell) bool) {
		for i, h := range v.rows() {
			row := []sheet.Cell{sheet.Styled(sheet.Header, v.headText(h))}
			for j := range v.columns() {
				c := v.cell(i, j)
				row = append(row, sheet.Styled(kindOf(c).look(), v.cellText(c)))
			}
			if !yield(row) {
				return
			}
		}
	}
	return s
}

// headText is a name with its label, its marks and its deadline in lines.
func (v view) headText(h head) string {
	lines := []string{h.name}
	if h.label != "" {
		lines = append(lines, h.label)
	}
	if h.state != nil {
		if marks := wording.Marks(h.state, v.lang); len(marks) > 0 {
			lines = append(lines, strings.Join(marks, ", "))
		}
		if due := wording.Deadline(h.state.Deadline, v.lang); due != "" {
			lines = append(lines, due)
		}
	}
	return strings.Join(lines, "\n")
}

// cellText is a cell's ways in lines, with what they emit, and when its event
// comes by itself.
func (v view) cellText(c *model.Cell) string {
	var lines []string
	for _, w := range wording.Ways(c) {
		line := w.Text(v.lang)
		if w.Transition != nil && len(w.Emit) > 0 {
			line += ", " + v.say(emits, strings.Join(w.Emit, ", "))
		}
		lines = append(lines, line)
	}
	if due := v.due(c); due != "" {
		lines = append(lines, due)
	}
	return strings.Join(lines, "\n")
}

func (v view) tableSheet(t table) *sheet.Sheet {
	s := &sheet.Sheet{Freeze: 1, Filter: true}
	for _, c := range t.columns {
		s.Columns = append(s.Columns, sheet.Column{Header: v.say(c.header), Width: c.width, Wrap: true})
	}
	rows := make([][]sheet.Cell, len(t.rows))
	for i, row := range t.rows {
		rows[i] = sheet.Texts(row...)
	}
	s.Rows = slices.Values(rows)
	return s
}

func (v view) legendSheet() *sheet.Sheet {
	s := &sheet.Sheet{Columns: []sheet.Column{
		{Header: v.say(colKind), Width: 16}, {Header: v.say(colMeaning), Width: 90, Wrap: true}, {Header: v.say(colCount), Width: 12},
	}}
	var rows [][]sheet.Cell
	for _, g := range v.groups() {
		rows = append(rows, []sheet.Cell{sheet.Styled(g.look, v.say(g.word)), sheet.Text(v.say(g.means)), sheet.Number(int64(g.count))})
	}
	note := func(text string) { rows = append(rows, []sheet.Cell{{}, sheet.Styled(sheet.Note, text)}) }
	note(v.say(size, len(v.States), len(v.Events), len(v.States)*len(v.Events)))
	if v.Facts() {
		note(v.say(told))
	}
	note(v.say(source, v.Source))
	note(generated)
	s.Rows = slices.Values(rows)
	return s
}
