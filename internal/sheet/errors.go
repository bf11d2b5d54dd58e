package sheet

import (
	"errors"
	"fmt"
)

// Why a table is refused; each comes in an *Error that says where.
var (
	ErrNoSheets       = errors.New("a workbook needs at least one sheet")
	ErrNoColumns      = errors.New("a sheet needs at least one column")
	ErrName           = errors.New("not a sheet's name: 1 to 31 characters, none of : \\ / ? * [ ] and no control character, no apostrophe at either end, not History")
	ErrNameTaken      = errors.New("two sheets of this name, capitals aside")
	ErrTooManyRows    = fmt.Errorf("a sheet holds %d rows, the header among them", MaxRows)
	ErrTooManyColumns = fmt.Errorf("a sheet holds %d columns", MaxColumns)
	ErrRowTooLong     = errors.New("the row has more cells than the header")
	ErrChoices        = fmt.Errorf("choices are not empty, hold no comma, and have %d characters together", MaxChoices)
)

// Error says why a table cannot be written, and where.
type Error struct {
	// Sheet is the sheet's name, empty when the workbook itself is meant.
	Sheet string
	// Row counts from 1, which is the header; 0 when no row is meant.
	Row int
	// Column counts from 1; 0 when no column is meant.
	Column int
	// Err is one of the package's errors.
	Err error
}

func (e *Error) Error() string {
	where := ""
	if e.Sheet != "" {
		where = fmt.Sprintf("sheet %q: ", e.Sheet)
	}
	if e.Row > 0 {
		where += fmt.Sprintf("row %d: ", e.Row)
	}
	if e.Column > 0 {
		where += fmt.Sprintf("column %d: ", e.Column)
	}
	return where + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
