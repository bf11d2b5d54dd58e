package consume

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
)

// Errors, for errors.Is. Those of the database are wrapped beside them.
var (
	// ErrKey: the key is empty, longer than [MaxKey], not UTF-8, or holds a control
	// character. It is an fsm.ErrArgument.
	ErrKey = fmt.Errorf("%w: key", fsm.ErrArgument)
	// ErrInProgress comes with the outcome InProgress.
	ErrInProgress = errors.New("message is in progress elsewhere")
	// ErrDead comes with the outcome Dead: the message is stored as a dead letter.
	// The last error is wrapped, where this delivery has one.
	ErrDead = errors.New("message was given up")
	// ErrLost: the claim's lease ended and another delivery took it over before the
	// work was done, so the work was rolled back.
	ErrLost = errors.New("claim was lost")
	// ErrTables: the tables are missing.
	ErrTables = errors.New("tables of consumers are missing; make them with: fsmgen tables consume")
	// ErrNoLetter: there is no open dead letter with that number, or none of this
	// consumer.
	ErrNoLetter = errors.New("no such dead letter")
)

// MaxKey is the greatest size of a key and of a consumer's name, in bytes: together
// they are one entry of an index.
const MaxKey = 1024

// PanicError is the error of a handler that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error gives the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("handler panicked: %v", e.Value) }

// checkKey returns ErrKey, which does not repeat the key, for a text that is none.
func checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w is empty", ErrKey)
	case len(key) > MaxKey:
		return fmt.Errorf("%w is longer than %d bytes", ErrKey, MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w is not UTF-8", ErrKey)
	}
	for _, r := range key {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w holds a control character", ErrKey)
		}
	}
	return nil
}

// undefinedTable is an SQLSTATE of
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const undefinedTable = "42P01"

// told wraps an error of the database with what was tried, and says which tables
// to make where they are missing. It is nil for nil.
func told(doing string, err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return fmt.Errorf("%s: %w: %w", doing, ErrTables, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
