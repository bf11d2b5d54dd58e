package sheet

import "strings"

// checkColumns refuses a header that no format holds.
func (s *Sheet) checkColumns() error {
	switch {
	case len(s.Columns) == 0:
		return &Error{Sheet: s.Name, Err: ErrNoColumns}
	case len(s.Columns) > MaxColumns:
		return &Error{Sheet: s.Name, Column: MaxColumns + 1, Err: ErrTooManyColumns}
	}
	return nil
}

// checkRow refuses a row that the sheet cannot hold; n counts from 1, the
// header, and is not looked at where a file has no end.
func (s *Sheet) checkRow(n int, row []Cell, bounded bool) error {
	switch {
	case bounded && n > MaxRows:
		return &Error{Sheet: s.Name, Row: n, Err: ErrTooManyRows}
	case len(row) > len(s.Columns):
		return &Error{Sheet: s.Name, Row: n, Column: len(s.Columns) + 1, Err: ErrRowTooLong}
	}
	return nil
}

// check refuses what can be refused before a row is read.
func (wb *Workbook) check() error {
	if len(wb.Sheets) == 0 {
		return &Error{Err: ErrNoSheets}
	}
	taken := map[string]bool{}
	for _, s := range wb.Sheets {
		key := fold(s.Name)
		switch {
		case !legal(s.Name):
			return &Error{Sheet: s.Name, Err: ErrName}
		case taken[key]:
			return &Error{Sheet: s.Name, Err: ErrNameTaken}
		}
		taken[key] = true
		if err := s.checkColumns(); err != nil {
			return err
		}
		for i, c := range s.Columns {
			if !choosable(c.Choices) {
				return &Error{Sheet: s.Name, Column: i + 1, Err: ErrChoices}
			}
		}
	}
	return nil
}

// choosable reports whether a drop-down can be made of the choices.
func choosable(choices []Choice) bool {
	length := len(choices) - 1 // the commas
	for _, c := range choices {
		if c.Text == "" || strings.Contains(c.Text, ",") || strings.TrimSpace(c.Text) != c.Text || Clean(c.Text) != c.Text {
			return false
		}
		length += units(c.Text)
	}
	return length <= MaxChoices
}
