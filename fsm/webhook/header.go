package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// maxSignatures bounds the work that one forged header can ask for. A rotation
// needs two or three.
const maxSignatures = 64

// maxStampDigits holds every second up to the year 5138.
const maxStampDigits = 11

// single returns the one value of a header. Two values are refused, because
// another reader of the request may take the one that was not verified.
func single(header http.Header, name string) (string, error) {
	values := header.Values(name)
	switch {
	case len(values) > 1:
		return "", malformed(name, "more than one value")
	case len(values) == 0 || values[0] == "":
		return "", &HeaderError{Header: name, Err: ErrMissingHeader}
	}
	return values[0], nil
}

// malformed is the error of a header that is present and cannot be read.
func malformed(name, reason string) error {
	return &HeaderError{Header: name, Err: ErrMalformed, Reason: reason}
}

// parseStamp reads unix seconds in the one way of writing them: digits alone,
// without sign, blank or leading zero.
func parseStamp(text string) (time.Time, bool) {
	if text == "" || len(text) > maxStampDigits || (text[0] == '0' && text != "0") {
		return time.Time{}, false
	}
	var seconds int64
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		seconds = seconds*10 + int64(c-'0')
	}
	return time.Unix(seconds, 0).UTC(), true
}

// formatStamp writes at as unix seconds, or tells that parseStamp would not
// read it back.
func formatStamp(at time.Time) (string, bool) {
	text := strconv.FormatInt(at.Unix(), 10)
	_, ok := parseStamp(text)
	return text, ok
}

// checkWindow refuses a stamp older than the age or further ahead than the
// tolerance.
func (s settings) checkWindow(stamp, now time.Time) error {
	// Sub saturates, so a stamp centuries away cannot wrap into the window.
	switch {
	case now.Sub(stamp) > s.age:
		return &StaleError{Timestamp: stamp, Now: now, Tolerance: s.age}
	case stamp.Sub(now) > s.tolerance:
		return &StaleError{Timestamp: stamp, Now: now, Tolerance: s.tolerance}
	}
	return nil
}

// printable tells whether a text is of printable ASCII without blanks.
func printable(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
