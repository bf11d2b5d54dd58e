package sheet

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// Flavour says for whom a CSV file is.
type Flavour int

// The flavours of CSV. Both are RFC 4180 in UTF-8 with commas, CRLF between
// rows and LF within a cell, and neutralise text cells with Neutral.
const (
	// Excel has a byte order mark, without which spreadsheets read another
	// encoding, and cells of at most MaxCell, see Fit.
	Excel Flavour = iota
	// Importer has no mark, on which importers choke, and cells of any length.
	Importer
)

// CSV returns the sheet as CSV. Errors are of *Error, of ErrNoColumns,
// ErrTooManyColumns and ErrRowTooLong, and ErrTooManyRows for Excel.
func CSV(s *Sheet, flavour Flavour) ([]byte, error) {
	var b bytes.Buffer
	if err := WriteCSV(&b, s, flavour); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteCSV writes what CSV returns, row by row; an error of the writer is
// returned as it is. What was written before an error is of no use.
func WriteCSV(w io.Writer, s *Sheet, flavour Flavour) error {
	if err := s.checkColumns(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if flavour == Excel {
		b.WriteString("\uFEFF")
	}
	header := make([]Cell, len(s.Columns))
	for i, c := range s.Columns {
		header[i] = Text(c.Header)
	}
	writeRecord(b, header, len(header), flavour)
	n := 1
	for row := range s.rows() {
		n++
		if err := s.checkRow(n, row, flavour == Excel); err != nil {
			return err
		}
		writeRecord(b, row, len(header), flavour)
	}
	return b.Flush()
}

// writeRecord writes one line of as many cells as the header has. What goes
// wrong is kept by the writer until it is flushed.
func writeRecord(b *bufio.Writer, row []Cell, columns int, flavour Flavour) {
	for i := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		if i < len(row) {
			b.WriteString(quote(csvText(row[i], flavour)))
		}
	}
	b.WriteString("\r\n")
}

// csvText is what a reader of the file gets for the cell.
func csvText(c Cell, flavour Flavour) string {
	if c.number {
		return c.Text
	}
	text := Neutral(Clean(c.Text))
	if flavour == Excel {
		text = Fit(text, MaxCell) // the apostrophes take room too
	}
	return text
}

// quote puts a field in quotes where it holds anything that a reader could take
// for the end of it, a blank at its ends, or an apostrophe.
func quote(field string) string {
	if field == "" || !strings.ContainsAny(field, "\",;'\t\r\n") && strings.TrimSpace(field) == field {
		return field
	}
	return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
}
