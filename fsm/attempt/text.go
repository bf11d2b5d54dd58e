package attempt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/fsm"
)

const (
	// MaxKey is the greatest size of a business key, in bytes.
	MaxKey = 500
	// MaxJSON is the greatest size of a request, of a result's data and of what a
	// step leaves, in bytes.
	MaxJSON = 256 << 10

	maxCode  = 200
	maxError = 500
	maxRef   = 500
)

// textOK refuses a text that is empty, too long, not UTF-8 or has control
// characters. The error names what it is and not the text.
func textOK(what, text string, limit int) error {
	problem := fsm.TextProblem(text, limit)
	if problem == "" {
		return nil
	}
	return fmt.Errorf("%w: %s %s", ErrArgument, what, problem)
}

// idOK refuses a text that is no uuid in PostgreSQL's own spelling.
func idOK(id string) error {
	ok := len(id) == 36
	for i := 0; ok && i < len(id); i++ {
		switch c := id[i]; i {
		case 8, 13, 18, 23:
			ok = c == '-'
		default:
			ok = c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		}
	}
	if !ok {
		return fmt.Errorf("%w: the attempt's id is no uuid", ErrArgument)
	}
	return nil
}

// canonical writes a value as JSON with sorted members and no spaces, so that two
// callers who mean the same write the same. Numbers stay as they were spelt.
func canonical(what string, value any) (json.RawMessage, error) {
	bad := func(problem string) error { return fmt.Errorf("%w: %s %s", ErrArgument, what, problem) }
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, bad("is not to be written as JSON") // the cause could show values
	}
	if len(raw) > MaxJSON {
		return nil, bad(fmt.Sprintf("has %d bytes, more than %d", len(raw), MaxJSON))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, bad("is no JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, bad("is more than one JSON value")
	}
	if raw, err = json.Marshal(tree); err != nil {
		return nil, bad("is not to be written as JSON")
	}
	return raw, nil
}

// clip makes any text one that a row can hold: UTF-8, without control characters,
// at most so many bytes.
func clip(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// causeText is an error as a row keeps it. A URL may carry a token, so that of
// net/http's own errors only the cause is kept.
func causeText(err error) string {
	if err == nil {
		return ""
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = fmt.Errorf("%s: %w", of.Op, of.Err)
	}
	return clip(err.Error(), maxError)
}

// storable is a result as a row can hold it. What the provider did must not be
// forgotten because its words are odd, so they are mended or left out.
func (r Result) storable() Result {
	r.Ref = clip(r.Ref, maxRef)
	if len(r.Data) == 0 {
		r.Data = nil
	} else if len(r.Data) > MaxJSON || !utf8.Valid(r.Data) || !json.Valid(r.Data) {
		r.Data = nil
	}
	return r
}
