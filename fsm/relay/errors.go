package relay

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of this package, for errors.Is.
var (
	// ErrArgument: a field or an argument is missing or impossible. Nothing was
	// sent to the database.
	ErrArgument = errors.New("bad argument")
	// ErrTables: the relay's tables are not in the database.
	ErrTables = errors.New("the tables of the relay are missing: fsmgen tables relay")
	// ErrNotHeld: there is no such key that is held up.
	ErrNotHeld = errors.New("the key is not held up")
	// ErrBusy: a relay is at this key just now. Nothing was done; ask again.
	ErrBusy = errors.New("a relay is at the key")
	// ErrChanged: the first message of the key is another one than that which
	// the person decided about. Nothing was done.
	ErrChanged = errors.New("another message is the first of the key")
)

// PublishError says that a message was not taken, and that its key is held up.
type PublishError struct {
	Message Message
	// Tries is how often this message was tried, this time included.
	Tries int
	// Parked says that it is not tried again until a person decides.
	Parked bool
	// Err is the publisher's.
	Err error
}

// Error names the message, the tries and the cause, not the payload.
func (e *PublishError) Error() string {
	parked := ""
	if e.Parked {
		parked = ", parked"
	}
	return fmt.Sprintf("relay: %s %.100q version %d, topic %s: not taken (try %d%s): %v",
		e.Message.Machine, e.Message.Key, e.Message.Version, e.Message.Topic, e.Tries, parked, e.Err)
}

// Unwrap returns the publisher's error.
func (e *PublishError) Unwrap() error { return e.Err }

// told says what a statement was for, and whether the tables are there.
func told(what string, err error) error {
	var pg *pgconn.PgError
	// 42P01 is undefined_table, 42703 undefined_column: fsm_outbox.hold.
	if errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "42703") {
		return fmt.Errorf("relay: %s: %w: %w", what, ErrTables, err)
	}
	return fmt.Errorf("relay: %s: %w", what, err)
}

// maxErrorText is how many bytes of an error are stored.
const maxErrorText = 1000

// storable is the text of an error as a column of type text can hold it.
func storable(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > maxErrorText {
		cut := maxErrorText
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return text
}

// blank refuses texts that PostgreSQL cannot store, and empty ones. The error
// names the argument and not its value.
func blank(name, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: %s is empty", ErrArgument, name)
	case len(text) > maxArgument:
		return fmt.Errorf("%w: %s is longer than %d bytes", ErrArgument, name, maxArgument)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("%w: %s is no text", ErrArgument, name)
	}
	return nil
}

const maxArgument = 4000
