package token

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
)

// Errors of this package, for errors.Is.
var (
	// ErrInvalid: the token may not be used by this principal for this purpose,
	// or at all. Which of the reasons it is, its text does not say, and neither
	// should an answer to the outside: see [InvalidError]. Nothing was done.
	ErrInvalid = errors.New("token is not valid")
	// ErrReply: the business replied with more than MaxReply bytes, and was
	// rolled back.
	ErrReply = errors.New("reply is too long")
	// ErrIsolation: the transaction given to UseTx is not READ COMMITTED, so that
	// a use which waited for another could not see its reply. Nothing was done.
	ErrIsolation = errors.New("transaction is not READ COMMITTED")
	// ErrTables: the table is missing. It comes with fsm.ErrNothingDone.
	ErrTables = errors.New("there is no table fsm_token, which `fsmgen tables token` makes")
)

// Reason says why a token was refused, for logs.
type Reason string

// The reasons, in the order in which a token is judged.
const (
	// Malformed: no text of a token.
	Malformed Reason = "malformed"
	// Unknown: never issued, or swept since.
	Unknown Reason = "unknown"
	// WrongPrincipal: somebody else's.
	WrongPrincipal Reason = "wrong principal"
	// WrongPurpose: issued for something else.
	WrongPurpose Reason = "wrong purpose"
	// Expired: not used in time, or used so long ago that its reply is gone.
	Expired Reason = "expired"
)

// InvalidError is an ErrInvalid with its reason, for errors.As and for logs. All
// have one and the same text, and none holds a token's.
type InvalidError struct {
	Reason Reason
}

// Error is ErrInvalid's text.
func (e *InvalidError) Error() string { return ErrInvalid.Error() }

// Is makes the error an ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// maxText is the greatest size of a principal and of a purpose, in bytes.
const maxText = 256

// CheckBinding refuses a principal or purpose that is empty, over 256 bytes, not
// UTF-8, or with a control character. The error is fsm.ErrArgument, and names the
// argument and not its value.
func CheckBinding(principal, purpose string) error {
	if err := checkText("principal", principal); err != nil {
		return err
	}
	return checkText("purpose", purpose)
}

func checkText(name, value string) error {
	what := fsm.TextProblem(value, maxText)
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: the %s of a token %s", fsm.ErrArgument, name, what)
}

// undefinedTable is the SQLSTATE of a table that is not there.
const undefinedTable = "42P01"

// failed wraps the error of a statement. None of them left anything done that a
// caller could see: they ran in a transaction that is rolled back, or concern
// tokens whose text nobody got.
func failed(what string, err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return fmt.Errorf("%w: token: %s: %w: %w", fsm.ErrNothingDone, what, ErrTables, err)
	}
	return fmt.Errorf("%w: token: %s: %w", fsm.ErrNothingDone, what, err)
}
