// Package pgparse is PostgreSQL's own parser and scanner, in C or in
// WebAssembly as the build has it, behind one set of functions that never
// panic. What the trees mean it leaves to its callers.
package pgparse

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

var (
	// ErrDeep says that the text is nested more deeply than the parser's stack
	// can be trusted with. Nobody reads such a statement either.
	ErrDeep = errors.New("nested too deeply to be read")
	// ErrBroken says that the parser failed in itself. It is not asked again in
	// this process, since its memory may be damaged.
	ErrBroken = errors.New("the SQL parser failed in itself")
	// ErrNUL says that the text has a zero byte. The parser in C takes it for the
	// end and would not see what is behind it; PostgreSQL takes no such text.
	ErrNUL = errors.New("a zero byte, which no SQL has")
)

// nulError is ErrNUL at a place.
type nulError struct{ cursor int }

func (*nulError) Error() string { return ErrNUL.Error() }
func (*nulError) Unwrap() error { return ErrNUL }

// whole returns an error when the parser would not read the text to its end.
func whole(sql string) error {
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return &nulError{cursor: utf8.RuneCountInString(sql[:i]) + 1}
	}
	return nil
}

var broken atomic.Bool

// guard runs f unless the parser broke before, and turns its panic into ErrBroken.
func guard[T any](f func() (T, error)) (result T, err error) {
	if broken.Load() {
		return result, ErrBroken
	}
	defer func() {
		if r := recover(); r != nil {
			broken.Store(true)
			err = fmt.Errorf("%w: %v", ErrBroken, r)
		}
	}()
	return f()
}

// Scan cuts a text into tokens; their positions count bytes. The error is the
// scanner's, see Cursor, or ErrNUL or ErrBroken. It is safe for concurrent use.
func Scan(sql string) (*pg.ScanResult, error) {
	if err := whole(sql); err != nil {
		return nil, err
	}
	return guard(func() (*pg.ScanResult, error) { return scan(sql) })
}

// Parse returns the tree of all statements of a text, none for an empty one;
// positions count bytes. The error is the parser's, see Cursor, or ErrNUL, ErrDeep
// or ErrBroken. It is safe for concurrent use.
func Parse(sql string) (*pg.ParseResult, error) {
	if err := whole(sql); err != nil {
		return nil, err
	}
	if err := shallow(sql); err != nil {
		return nil, err
	}
	return guard(func() (*pg.ParseResult, error) { return parse(sql) })
}

// PLpgSQL returns the tree, as JSON, of one CREATE FUNCTION, CREATE PROCEDURE
// or DO statement. body is the text of the function in it. The error is the
// parser's, or ErrNUL, ErrDeep or ErrBroken. It is safe for concurrent use.
func PLpgSQL(statement, body string) (string, error) {
	for _, sql := range []string{statement, body} {
		if err := cmp.Or(whole(sql), shallow(sql)); err != nil {
			return "", err
		}
	}
	return guard(func() (string, error) { return plpgsql(statement) })
}

// Cursor returns the place that an error of Parse or Scan names, counted in
// characters from 1, or 0 when it names none.
func Cursor(err error) int {
	if nul := (*nulError)(nil); errors.As(err, &nul) {
		return nul.cursor
	}
	return cursor(err)
}
