package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText is the greatest length of a number or name, in bytes.
	maxText = 128
	// maxCents leaves room to add amounts up in a bigint.
	maxCents = 1_000_000_000_000_000
	// maxPieces is the greatest stock of one article.
	maxPieces = 1_000_000_000
)

// decode reads the request's body as one JSON object with the fields of v and no
// others. The error is a FieldError, or a *http.MaxBytesError.
func decode(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return decodeJSON(body, v, true)
}

// readBody returns the body as received. A body that breaks off is the caller's
// fault, or nobody's.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if err != nil && !errors.As(err, &large) {
		return nil, &FieldError{"body", "could not be read to its end"}
	}
	return body, err
}

func decodeJSON(body []byte, v any, strict bool) error {
	// encoding/json would replace bad bytes, and two numbers become one.
	if !utf8.Valid(body) {
		return &FieldError{"body", "is not UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &FieldError{"body", "goes on after its JSON value"}
	}
	return nil
}

// jsonError names the field where encoding/json does.
func jsonError(err error) error {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		field := wrongType.Field
		if field == "" {
			field = "body"
		}
		return &FieldError{field, "cannot be a " + wrongType.Value}
	}
	// For this one encoding/json has no type.
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return &FieldError{strings.Trim(name, `"`), "is not a field of this request"}
	}
	return &FieldError{"body", "is not a JSON object"}
}

// fields gathers the first mistake of several checks.
type fields struct{ err error }

func (f *fields) refuse(field, reason string) {
	if f.err == nil {
		f.err = &FieldError{field, reason}
	}
}

// uuid returns v in the spelling that PostgreSQL uses, so that one key has one
// text.
func (f *fields) uuid(field, v string) string {
	if len(v) != 36 {
		f.refuse(field, "is not a UUID")
		return ""
	}
	for i, c := range []byte(v) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if hyphen != (c == '-') || !hyphen && !hex {
			f.refuse(field, "is not a UUID")
			return ""
		}
	}
	return strings.ToLower(v)
}

// number refuses what cannot be a number of a payment or refund: they are
// compared byte by byte, so that only visible ASCII is taken.
func (f *fields) number(field, v string) {
	if !printable(v) || strings.Contains(v, " ") {
		f.refuse(field, fmt.Sprintf("is not a text of 1 to %d visible ASCII characters", maxText))
	}
}

// text refuses what cannot be a name of a customer or an article, which is one line.
func (f *fields) text(field, v string) {
	bad := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == utf8.RuneError
	}
	if v == "" || len(v) > maxText || !utf8.ValidString(v) || strings.ContainsFunc(v, bad) {
		f.refuse(field, fmt.Sprintf("is not a text of 1 to %d bytes without control characters", maxText))
	}
}

// prose refuses what cannot be a text of several lines: PostgreSQL keeps no NUL, and
// other control characters than line ends and tabs are of no use to a reader. It may
// be empty; the body's limit is its own.
func (f *fields) prose(field, v string) {
	bad := func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) || r == utf8.RuneError
	}
	if strings.ContainsFunc(v, bad) {
		f.refuse(field, "is not a text of lines without other control characters")
	}
}

func (f *fields) between(field string, v, low, high int64) {
	if v < low || v > high {
		f.refuse(field, fmt.Sprintf("is not between %d and %d", low, high))
	}
}

// printable reports whether v is 1 to maxText printable ASCII characters.
func printable(v string) bool {
	if v == "" || len(v) > maxText {
		return false
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] > '~' {
			return false
		}
	}
	return true
}

// pathID returns the order id in the path.
func pathID(r *http.Request) (string, error) {
	var f fields
	id := f.uuid("order_id", r.PathValue("id"))
	return id, f.err
}
