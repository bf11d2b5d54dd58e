// Package sheet writes tables as people and their tools open them: CSV in two
// flavours, and xlsx. It knows nothing of machines: what stands in a table is
// its callers' business, and so is where a file goes.
//
// Whatever a cell holds stays text: nothing of it runs as a formula, in CSV (see
// Neutral) or in xlsx, where a string is written as a string. What a format
// cannot hold is replaced by something that can be seen (see Clean) or refused
// by an *Error, and never dropped silently.
//
// The same tables give the same bytes: no clock, no host, parts in one order.
package sheet

import (
	"iter"
	"strconv"
)

// What a sheet of the xlsx format can hold.
const (
	// MaxRows counts the header too.
	MaxRows    = 1_048_576
	MaxColumns = 16_384
	// MaxCell is how much text a cell holds, in UTF-16 units.
	MaxCell = 32_767
	// MaxName is the length of a sheet's name, in UTF-16 units.
	MaxName = 31
	// MaxChoices is the length of all choices of a column together, in UTF-16
	// units and with a comma between two.
	MaxChoices = 255
)

// Workbook is an xlsx file: sheets in order, at least one.
type Workbook struct {
	// Title and About are the file's properties; empty ones are left out.
	Title, About string
	Sheets       []*Sheet
	// Compress makes a large file small. Without it the parts are stored as they
	// are: the bytes are then the same with every release of Go, and a version
	// control system packs what changed better than it could in a packed file.
	Compress bool
}

// Sheet is one table: a header, and rows below it.
type Sheet struct {
	// Name is for xlsx alone; Names makes a legal one of any text.
	Name    string
	Columns []Column
	// Rows are read once for each file that is written. A row that is shorter
	// than the header is filled with empty cells; a longer one is an error. Nil is
	// no row.
	Rows iter.Seq[[]Cell]
	// Freeze is the number of columns, from the first, that stay in sight when the
	// sheet is scrolled to the right. The header always stays.
	Freeze int
	// Filter puts a filter on every column.
	Filter bool
}

// Column is how a column looks.
type Column struct {
	Header string
	// Kind is the look of the header; Plain is Header.
	Kind Kind
	// Width is in characters; 0 is 12.
	Width float64
	// Wrap breaks long text into lines.
	Wrap bool
	// Choices are what a person may choose from in the column's cells; empty for
	// any text. None of them holds a comma.
	Choices []Choice
}

// Choice is one entry of a drop-down; a cell with its text takes on the look of
// its kind.
type Choice struct {
	Text string
	Kind Kind
}

// Cell is text, or a number.
type Cell struct {
	Text string
	// Kind is how the cell looks. A CSV file has no looks.
	Kind   Kind
	number bool
}

// Text is a cell with text.
func Text(s string) Cell { return Cell{Text: s} }

// Styled is a cell with text that looks like its kind.
func Styled(kind Kind, s string) Cell { return Cell{Text: s, Kind: kind} }

// Number is a cell that is counted with. A number of more than 15 digits is
// text in xlsx, since a spreadsheet would round it.
func Number(n int64) Cell { return Cell{Text: strconv.FormatInt(n, 10), number: true} }

// Texts is a row of text cells.
func Texts(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, s := range texts {
		row[i] = Text(s)
	}
	return row
}

// exact reports whether a spreadsheet keeps every digit of a number cell.
func (c Cell) exact() bool {
	const digits = 15
	n := len(c.Text)
	if n > 0 && c.Text[0] == '-' {
		n--
	}
	return c.number && n <= digits
}

// rows gives the sheet's rows, none for nil.
func (s *Sheet) rows() iter.Seq[[]Cell] {
	if s.Rows == nil {
		return func(func([]Cell) bool) {}
	}
	return s.Rows
}
